// The profiles of text and file programs by what command lines come to, what programs are there
// for, and whether all tables hold together.

import { describe, expect, test } from 'vitest';
import { profiledPrograms, profileOf } from '../../../src/policy/profiles/index.ts';
import { callOf, check } from './lines.ts';

describe('text', () => {
  check(`
    cat package.json
    cat -n src/a.ts
    cat -- README.md
    head -20 README.md
    head -n 5 a b
    head -c100 a
    tail -50 test.log
    tail -n +20 a
    tail -f server.log
    tail -F --pid=12 server.log
    wc -l
    wc -lw src/a.ts
    nl -ba src/a.ts
    cut -d: -f1
    cut -d / -f 2 names.txt
    tr a b
    tr -d '\\n'
    sort -u
    sort -t, -k2,2n data.csv
    sort -rn --parallel=2 a
    sort -o out.txt in.txt                   => write
    sort -oout in.txt                        => write
    sort in.txt -uo out.txt                  => write
    sort --outp=x in.txt                     => write
    sort --output x in.txt                   => write
    sort --compress-program=./x a            => exec
    sort --compress-p ./x a                  => exec
    sort --files0-from=list                  => secret
    sort -T /var/tmp a                       => write
    sort -cu a
    sort --nonsense a                        => unknown
    uniq -c
    uniq -c in.txt
    uniq in.txt out.txt                      => write
    shuf -n 3 words.txt
    shuf -o out.txt words.txt                => write
    shuf -no 3 words.txt
    comm -12 a b
    cmp -s a b
    diff a b
    diff -ru --color=never old new
    diff -U3 --exclude=node_modules a b
    sdiff -o out a b                         => write
    sdiff --diff-program=./x a b             => exec
    grep -rn x src
    grep -rn needle src --include=*.py
    grep -A3 -B3 -i needle README.md
    grep -e a -e b src/a.ts
    grep -3 needle a
    grep --nope x                            => unknown
    rg -n createServer src
    rg needle src --glob *.ts -n
    rg --files src
    rg -uu --hidden x
    rg --pre ./x needle                      => exec
    rg --pre=./x needle                      => exec
    rg -z needle                             => exec
    rg -nz needle                            => exec
    rg --hostname-bin ./x needle             => exec
    ag --pager ./x needle                    => exec
    ack --output='$1' needle                 => exec
    echo -e hello
    printf '%s\\n' a b
    printf -v x '%s' a                       => config
    seq 1 10
    iconv -f latin1 -t utf8 a.txt
    iconv -o b.txt -f latin1 -t utf8 a.txt   => write
    tee out.log
    tee -a out.log
    split -l 100 a part-
    split --filter='gzip > $FILE' a          => exec
    base64 -d a.b64
    sha256sum -c sums.txt
    paste -sd, a
    column -t -s, data.csv
    strings -n 8 a.bin
    od -c a.bin
  `);
});

describe('languages and viewers', () => {
  check(`
    sed -n '1,5p' f
    sed -n -e '1,5p' -e '10p' f
    sed -E 's/a/b/g' f
    sed -i s/a/b/ f                          => write
    sed -i.bak s/a/b/ f                      => write
    sed -ni p f                              => write
    sed -nEi p f                             => write
    sed --in-pl s/a/b/ f                     => write
    sed --in-place=.bak s/a/b/ f             => write
    sed p f -i                               => write
    sed -f script.sed f                      => exec
    sed --fil=script.sed f                   => exec
    sed 's/x/y/w out' f                      => write
    awk '{print $1}' f
    awk -F: -v n=1 '{print $n}' f
    awk -f prog.awk f                        => exec
    awk 'BEGIN{system("ls")}'                => exec
    gawk -i lib 'BEGIN{}'                    => exec
    gawk -l filefuncs 'BEGIN{}'              => exec
    gawk -o out '{print}' f                  => write
    gawk -pout.prof '{print}' f              => write
    mawk -W exec=prog f                      => exec
    jq . f
    jq -r .scripts package.json
    jq -rc '.a[] | .b' f
    jq --arg x y .a f
    jq -f prog.jq f                          => secret
    yq .a f.yml
    yq -i .a=1 f.yml                         => write
    yq eval -i .a=1 f.yml                    => write
    xxd a.bin
    xxd -l 16 -c 8 a.bin
    xxd -ps a.bin
    xxd -r dump out                          => write
    xxd a.bin out                            => write
    xxd -ps 5 out                            => write
    xmllint --noout a.xml
    xmllint -format a.xml
    xmllint --output b.xml a.xml             => write
    xmllint --shell a.xml                    => exec
    patch -p1 --dry-run -i a.diff
    patch -e -i a.diff                       => exec
    pandoc -t html a.md
    pandoc -o a.html a.md                    => write
    pandoc -F ./x a.md                       => exec
    pandoc --lua-filter=x.lua a.md           => exec
    less README.md
    less '+!touch x' README.md               => exec
    less -oout README.md                     => write
    bat -pp src/a.ts
    bat --pager ./x src/a.ts                 => exec
    cloc src
    cloc --out=x src                         => write
    dc -e '!ls'                              => exec
  `);
});

describe('files', () => {
  check(`
    ls -la
    ls -lah --color=never src tests
    ls -1t --sort=size
    eza -la --git
    tree -L 2
    tree -a -I node_modules src
    tree -o x                                => write
    tree -ao x                               => write
    tree -Io a Makefile                      => write
    tree -R -H . -L 1                        => write
    stat -c %s a
    file src/a.ts
    file -C -m magic                         => write
    file -z a.gz                             => exec
    du -sh node_modules
    df -h
    basename /a/b.ts .ts
    realpath --relative-to=src src/a
    which -a node
    mkdir -p src/metrics
    touch src/a.ts
    cp a b
    cp -r src backup
    cp -t backup a b
    cp --remove-destination a b              => delete
    ln a b
    ln -s ../a b                             => config
    ln -sf a b                               => config delete
    install -m 4755 a b                      => config
    chmod +x run.sh                          => config
    chmod u+s x                              => config
    chmod --ref=a b                          => config
    rm -rf node_modules                      => delete
    rm --rec a                               => delete
    dd if=a of=b                             => write
    fd -e ts src
    fd -t f . -x rm                          => exec
    fd -HX rm                                => exec
    fd --exec=rm .                           => exec
    lsof -i :3000
    lsof -nP -iTCP:3000 -sTCP:LISTEN
    fuser -v 3000/tcp
    fuser -k 3000/tcp                        => delete
    mktemp -d
  `);
});

describe('archives', () => {
  check(`
    tar -tzf a.tgz
    tar tzf a.tgz
    tar -czf a.tgz -C src
    tar -czf a.tgz src
    tar czf a.tgz src
    tar -xzf a.tgz                           => delete
    tar xzf a.tgz -C out
    tar cf a.tar -I ./x src                  => exec
    tar cIf ./x a.tar src                    => unknown
    tar cf a.tar --checkpoint=1 --checkpoint-action=exec=sh src    => exec
    tar cf a.tar --checkpoint-a=exec=sh src  => exec
    tar -tf a.tar --to-command=sh            => exec
    tar cf a.tar --use-comp=./x src          => exec
    tar -cf a.tar -T list                    => exec
    tar cf a.tar --remove-files src          => delete
    tar -cPf a.tar                           => config
    gzip -k a.log
    zcat a.log.gz
    zip -r a.zip src
    zip -r a.zip src -T -TT 'sh -c x'        => exec
    zip -rm a.zip src                        => delete
    unzip -l a.zip
    unzip a.zip                              => delete
    unzip -o a.zip -d out                    => delete
    7z l a.7z
    rsync -avn a b
    rsync -e ./x a b                         => exec
    rsync -ae./x a b                         => exec
    rsync -av --delete a b                   => delete
    rsync --rsync-path=./x a b               => exec
  `);
});

test.each([
  ['sort -u a', 'read'],
  ['mkdir a', 'write'],
  ['mv a b', 'delete'],
  ['rm a', 'delete'],
  ['patch -p1', 'delete'],
  ['tar xzf a.tgz', 'write'],
  ['tar tzf a.tgz', 'read'],
  ['docker ps', 'read'],
  ['docker', 'read'],
  ['docker run x', 'exec'],
  ['docker compose up', 'exec'],
  ['docker compose config', 'config'],
  ['kubectl get pods', 'read'],
  ['kubectl apply -f a.yml', 'config'],
  ['kubectl delete pod x', 'delete'],
  ['terraform validate', 'read'],
  ['terraform apply', 'delete'],
  ['gh pr view', 'read'],
  ['gh pr create', 'net'],
  ['gh pr merge 1', 'delete'],
  ['gh auth token', 'config'],
  ['curl x.org', 'net'],
  ['sqlite3 a.db', 'exec'],
  ['vim a', 'exec'],
  ['printenv', 'config'],
  ['env', 'config'],
  ['export', 'config'],
  ['export A=1', 'read'],
  ['set', 'config'],
  ['mount', 'read'],
  ['systemctl restart nginx', 'config'],
  ['cuff policy', 'config'],
])('what `%s` is there for: %s', (line, kind) => {
  expect(callOf(line).kind).toBe(kind);
});

test('an option that is listed nowhere is unknown to every program that has options', () => {
  const blind = profiledPrograms().filter((name) => {
    const profile = profileOf(name);
    if (profile?.style === 'none' || profile?.subcommands !== undefined) return false;
    return !callOf(`${name} --no-such-thing=1`).parts.some(({ effect }) => effect === 'unknown');
  });
  expect(blind).toEqual([]);
});
