// Profiles of programs that talk to other machines. Hosts are for the policy to list; what sends
// files, takes another way or obeys a file of settings is said here. The command lines of hosting
// and cloud services are in data-net-services.ts.

import type { Profile } from '../profile.ts';
import { SERVICES } from './data-net-services.ts';

/**
 * `@file` as a value sends that file, and `-w` can write one, so that what takes such values is no
 * plain word. Reaching the network is what curl is for: what changes how it does that, or what is
 * done at the other end, counts as `config`.
 */
const CURL: Profile = {
  kind: 'net',
  deeds: { fetches: '**' },
  options: `
    -d,--data:word!secret --data-ascii:word!secret --data-binary:word!secret --data-raw:word!config
    --data-urlencode:word!secret --json:word!secret --url-query:word!secret
    -F,--form:word!secret --form-string:word!config --form-escape -T,--upload-file:path!secret
    -H,--header:source --proxy-header:word!secret -b,--cookie:word!secret
    -u,--user:word!secret -U,--proxy-user:word!secret --oauth2-bearer:word!secret
    -n,--netrc!secret --netrc-file:path!secret --netrc-optional!secret --delegation:word!secret
    -E,--cert:path!secret --key:path!secret --pass:word!secret --proxy-cert:path!secret
    --proxy-key:path!secret --proxy-pass:word!secret --pubkey:path!secret --aws-sigv4:word!secret
    --location-trusted!secret --negotiate!secret --ntlm!secret --proxy-negotiate!secret
    --variable:word!secret --expand-url:word!secret --egd-file:path --random-file:path
    -o,--output:sink --output-dir:write -O,--remote-name!write --remote-name-all!write
    -J,--remote-header-name!write -D,--dump-header:write -c,--cookie-jar:write --create-dirs!write
    --trace:write --trace-ascii:write --trace-config:word --stderr:write --libcurl:write
    --etag-save:write --hsts:write --alt-svc:write -w,--write-out:writeout --skip-existing
    --ssl-sessions:write --dump-ca-embed --remove-on-error!delete --xattr!write --keylog:write
    --engine:exec
    -K,--config:config -k,--insecure!config --proxy-insecure!config --doh-insecure!config
    -X,--request:word!config --request-target:word!config -Q,--quote:config -a,--append!config
    -x,--proxy:config --preproxy:config --socks4:config --socks4a:config --socks5:config
    --socks5-hostname:config --connect-to:config --resolve:config --unix-socket:config
    --abstract-unix-socket:config --doh-url:config --interface:config --dns-servers:config
    --dns-interface:config --dns-ipv4-addr:config --dns-ipv6-addr:config --local-port:config
    --noproxy:word --proto:word!config --proto-default:word!config --proto-redir:word!config
    -t,--telnet-option:config --mail-from:config --mail-rcpt:config --mail-auth:config
    -P,--ftp-port:config --ftp-create-dirs!config --ftp-account:word!secret
    --ftp-alternative-to-user:config --haproxy-protocol!config --haproxy-clientip:config
    --ipfs-gateway:url --login-options:word!config --service-name:word!config
    --sasl-authzid:word!config
    --ca-native --cacert:path --capath:path --crlfile:path --cert-type:word --key-type:word
    --ciphers:word --tls13-ciphers:word --curves:word --tls-max:word --tlsv1 --tlsv1.0 --tlsv1.1
    --tlsv1.2 --tlsv1.3 --ssl --crlf --proxy1.0:config -p,--proxytunnel!config
    --ssl-no-revoke!config --ssl-reqd --cert-status
    -A,--user-agent:word -e,--referer:word -m,--max-time:word --connect-timeout:word
    --max-filesize:word --max-redirs:int --limit-rate:word -y,--speed-time:int -Y,--speed-limit:int
    --rate:word --retry:int --retry-delay:int --retry-max-time:int --retry-all-errors
    --retry-connrefused --keepalive-time:int --expect100-timeout:word
    --happy-eyeballs-timeout-ms:int
    -r,--range:word -C,--continue-at:word -z,--time-cond:word --etag-compare:path --url:url
    -s,--silent -S,--show-error -f,--fail --fail-with-body --fail-early -L,--location -i,--include
    --show-headers -I,--head -v,--verbose -G,--get -g,--globoff -N,--no-buffer -q,--disable
    -#,--progress-bar --no-progress-meter -4,--ipv4 -6,--ipv6 -0,--http1.0 --http1.1 --http2
    --http2-prior-knowledge --http3 --http3-only --compressed --compressed-ssh --raw --tr-encoding
    --tcp-nodelay --tcp-fastopen --no-keepalive --no-sessionid --no-alpn --path-as-is --basic
    --digest --anyauth --post301 --post302 --post303 --junk-session-cookies -j -l,--list-only
    -B,--use-ascii -Z,--parallel --parallel-max:int --parallel-immediate --styled-output -R
    --remote-time --ignore-content-length --next --suppress-connect-headers --disable-eprt
    --disable-epsv -h,--help?word -M,--manual -V,--version`,
  operands: 'url*',
};

const WGET: Profile = {
  kind: 'net',
  deeds: { fetches: '**' },
  options: `
    --use-askpass:exec -e,--execute:config --config:config --no-config
    -O,--output-document:write -o,--output-file:write -a,--append-output:write
    -P,--directory-prefix:write --save-cookies:write --hsts-file:write --rejected-log:write
    --warc-file:write --warc-dedup:path --warc-tempdir:write --warc-header:word
    --content-disposition!write --trust-server-names!write -N,--timestamping!delete
    -c,--continue!write --start-pos:int -nc,--no-clobber --unlink!delete --delete-after!delete
    -K,--backup-converted -k,--convert-links!write -E,--adjust-extension --backups?int
    -x,--force-directories --protocol-directories --cut-dirs:int --default-page:word --xattr
    -i,--input-file:path!config --input-metalink:path!config --metalink-over-http!config
    -B,--base:url -F,--force-html
    --post-data:word!secret --post-file:path!secret --method:word!config --body-data:word!secret
    --body-file:path!secret --header:word!secret --load-cookies:path!secret --user:word!secret
    --password:word!secret --http-user:word!secret --http-password:word!secret --ask-password
    --ftp-user:word!secret --ftp-password:word!secret --certificate:path!secret
    --private-key:path!secret --auth-no-challenge!secret --proxy-user:word!secret
    --proxy-password:word!secret --no-check-certificate!config --no-hsts!config
    --bind-address:config --dns-servers:config --bind-dns-address:config --secure-protocol:word
    --ca-certificate:path --ca-directory:path --crl-file:path --pinnedpubkey:word --ciphers:word
    --egd-file:path --random-file:path --https-only
    -q,--quiet -v,--verbose -nv,--no-verbose -d,--debug -S,--server-response --spider
    --progress:word --show-progress -t,--tries:int --retry-connrefused --retry-on-http-error:word
    -T,--timeout:int --dns-timeout:int --connect-timeout:int --read-timeout:int -w,--wait:word
    --waitretry:int --random-wait --no-proxy -Q,--quota:word --limit-rate:word --no-dns-cache
    -4,--inet4-only -6,--inet6-only --prefer-family:word --max-redirect:int --no-cookies
    --compression:word --user-agent:word -U:word --referer:word --no-cache --ignore-length
    -nd,--no-directories -nH,--no-host-directories -np,--no-parent -r,--recursive!write
    -l,--level:int -m,--mirror!write -p,--page-requisites!write -A,--accept:word -R,--reject:word
    --accept-regex:word --reject-regex:word -D,--domains:word --exclude-domains:word
    -H,--span-hosts!config -L,--relative -I,--include-directories:word -X,--exclude-directories:word
    -b,--background!exec -h,--help -V,--version`,
  operands: 'url*',
};

/** Its operands are a method, an address, and what is sent. */
const HTTPIE: Profile = {
  kind: 'net',
  deeds: { fetches: '**' },
  style: 'exact',
  options: `-o,--output:write -d,--download!write -c,--continue!write --session:word!write
    --session-read-only:word!secret -a,--auth:word!secret -A,--auth-type:word!secret
    --proxy:config --verify:word!config --cert:path!secret --cert-key:path!secret --raw:word!secret
    -f,--form!secret --multipart!secret -j,--json -v,--verbose -h,--headers -b,--body
    -p,--print:word
    -q,--quiet -F,--follow --max-redirects:int --timeout:word --check-status -I,--ignore-stdin
    --pretty:word -s,--style:word -S,--stream --offline --version --help`,
  operands: 'url config*',
};

/** Commands at the other end, files to and fro, and a shell out of it. */
const REMOTE: Profile = {
  kind: 'exec',
  style: 'exact',
  options: '-V --version',
  operands: 'exec*',
};

const REMOTES: Readonly<Record<string, Profile>> = Object.fromEntries(
  [
    ...['ssh', 'scp', 'sftp', 'nc', 'ncat', 'netcat', 'telnet', 'socat', 'ftp', 'lftp', 'mosh'],
    ...['tftp', 'autossh', 'sshfs', 'ngrok', 'cloudflared', 'tailscale', 'mail', 'sendmail'],
    ...['nmap', 'tcpdump', 'openvpn', 'wg'],
  ].map((name): [string, Profile] => [name, REMOTE]),
);

export const NET: Readonly<Record<string, Profile>> = {
  curl: CURL,
  wget: WGET,
  http: HTTPIE,
  https: HTTPIE,
  ...REMOTES,
  rclone: {
    ...REMOTE,
    deeds: {
      'deleted 3': 'delete; deletefile; purge; rmdirs; cleanup',
      'sent 2': 'copy; copyto; sync; move; moveto',
    },
  },
  ...SERVICES,
};
