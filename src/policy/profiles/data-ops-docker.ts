// Profiles of docker, podman and compose. A user who may start a container is root as far as mounts
// go, so that images and what is mounted are never covered by a star; looking at what runs is.

import type { Deeds, Profile } from '../profile.ts';
import { each, type Profiles } from './common.ts';

function docker(kind: Profile['kind'], options: string, operands = ''): Profile {
  return { kind, style: 'exact', options: `${options} --help`, operands };
}

const LOOKS: Profiles = {
  ...each(
    'ps ls',
    docker(
      'read',
      `-a,--all -f,--filter:word --format:word -n,--last:int -l,--latest --no-trunc -q,--quiet
      -s,--size`,
    ),
  ),
  images: docker(
    'read',
    '-a,--all --digests -f,--filter:word --format:word --no-trunc -q,--quiet --tree',
    'word',
  ),
  logs: docker(
    'read',
    '--details -f,--follow --since:word -n,--tail:word -t,--timestamps --until:word',
    'word*',
  ),
  // All that is known of a container has its variables in it, and passwords with them.
  inspect: {
    ...docker('read', '-f,--format:template -s,--size --type:word', 'variables*'),
    operandsWith: { '--format': 'word*' },
  },
  version: docker('read', '-f,--format:word'),
  info: docker('read', '-f,--format:word'),
  stats: docker('read', '-a,--all --format:word --no-stream --no-trunc', 'word*'),
  // Its options are those of ps, which can show the environment.
  top: docker('read', '-o:word!secret', 'word'),
  port: docker('read', '', 'word*'),
  diff: docker('read', '', 'word'),
  history: docker('read', '--format:word -H,--human --no-trunc -q,--quiet', 'word'),
  events: docker('read', '-f,--filter:word --format:word --since:word --until:word'),
  search: docker('net', '-f,--filter:word --format:word --limit:int --no-trunc', 'word'),
};

/** What a container is started with; nearly all of it opens the machine. */
const RUN_OPTIONS = `--rm -i,--interactive -t,--tty -d,--detach --name:word -w,--workdir:word
  -e,--env:word -l,--label:word -m,--memory:word --cpus:word --init --pull:word --platform:word
  -q,--quiet --stop-timeout:int --read-only --no-healthcheck
  -v,--volume:exec --mount:exec --volumes-from:exec --tmpfs:exec --device:exec --gpus:exec
  --privileged!exec --cap-add:exec --security-opt:exec --pid:exec --ipc:exec --uts:exec
  --userns:exec --cgroupns:exec --cgroup-parent:exec --network:exec --net:exec --add-host:exec
  --dns:exec -p,--publish:exec -P,--publish-all!exec --expose:exec --env-file:path!secret
  --label-file:path --entrypoint:exec -u,--user:exec --group-add:exec --runtime:exec --sysctl:exec
  --ulimit:exec --restart:exec --link:exec --cidfile:write --log-driver:exec --log-opt:exec
  --use-api-socket!exec --oom-kill-disable!exec`;

const BUILD_OPTIONS = `-t,--tag:word -f,--file:path --target:word --build-arg:word --label:word
  --no-cache --no-cache-filter:word --pull --platform:word -q,--quiet --progress:word --load --rm
  --force-rm --squash --push!net --secret:exec --ssh:exec -o,--output:write --iidfile:write
  --metadata-file:write --allow:exec --network:exec --add-host:exec --build-context:exec
  --cache-from:net --cache-to:write --builder:config --call:word --check --sbom:word
  --provenance:word
  --security-opt:exec --cgroup-parent:exec --isolation:exec`;

const STARTS: Profiles = {
  ...each('run create', { ...docker('exec', RUN_OPTIONS, 'exec*'), style: 'first' }),
  exec: {
    ...docker(
      'exec',
      '-i -t -d --privileged!exec -e:word -u:exec -w:word --env-file:path!secret',
      'exec*',
    ),
    style: 'first',
  },
  // As the name of a package: `.` is one, an address or another directory is code from elsewhere.
  build: docker('exec', BUILD_OPTIONS, 'package'),
  ...each('start restart unpause', docker('exec', '-a -i -t,--time:int', 'word*')),
  attach: docker('exec', '', 'exec'),
  pull: docker('net', '-a,--all-tags --platform:word -q,--quiet', 'image'),
  push: docker('net', '-a,--all-tags -q,--quiet', 'image'),
  tag: docker('config', '', 'word word'),
  ...each(
    'stop kill rm rmi pause wait',
    docker('delete', '-f,--force -s:word -t:int -v', 'delete*'),
  ),
  rename: docker('config', '', 'word word'),
  update: docker('config', '', 'config*'),
  cp: docker('delete', '-a -L -q', 'output*'),
  ...each('export save', docker('write', '-o,--output:output', 'word*')),
  ...each('import load commit', docker('config', '-i,--input:path', 'config*')),
  ...each('login logout', docker('config', '', 'config*')),
};

/** `docker container ls`, `docker volume ls`: nouns in front. */
function noun(reads: string, more: Profiles = {}): Profile {
  return {
    kind: 'config',
    style: 'exact',
    subcommands: {
      ...Object.fromEntries(
        reads.split(' ').map((name) => [name, LOOKS[name] ?? docker('read', '')]),
      ),
      ...more,
      ...each('rm prune', docker('delete', '-f,--force -a,--all --filter:word', 'delete*')),
      ...each('create connect disconnect use', docker('config', '', 'config*')),
    },
  };
}

const SYSTEM: Profile = {
  kind: 'config',
  subcommands: {
    df: docker('read', '-v,--verbose --format:word'),
    info: docker('read', '-f,--format:word'),
    events: LOOKS.events ?? docker('read', ''),
    prune: docker('delete', '-a,--all -f,--force --volumes!delete --filter:word'),
  },
};

const COMPOSE_LOOKS: Profiles = {
  ps: docker(
    'read',
    `-a,--all --filter:word --format:word --no-trunc --orphans -q,--quiet --services --status:word`,
    'word*',
  ),
  logs: docker(
    'read',
    `-f,--follow --index:int --no-color --no-log-prefix --since:word -n,--tail:word -t,--timestamps
      --until:word`,
    'word*',
  ),
  images: docker('read', '--format:word -q,--quiet', 'word*'),
  top: docker('read', '', 'word*'),
  port: docker('read', '--index:int --protocol:word', 'word*'),
  ls: docker('read', '-a,--all --filter:word --format:word -q,--quiet'),
  version: docker('read', '-f,--format:word --short'),
  events: docker('read', '--json --since:word --until:word', 'word*'),
  stats: docker('read', '-a,--all --format:word --no-stream --no-trunc', 'word*'),
  // It prints what stands in the files of the environment.
  ...each(
    'config convert',
    docker('config', '-q,--quiet --services --images --volumes --profiles'),
  ),
};

const COMPOSE: Profile = {
  kind: 'exec',
  bare: 'read',
  style: 'exact',
  // The file says what is mounted and what is run.
  options: `-f,--file:exec --env-file:path!config --project-directory:path!exec --profile:word
    -p,--project-name:word --ansi:word --progress:word --compatibility --dry-run -v --version
    --help`,
  subcommands: {
    ...COMPOSE_LOOKS,
    up: docker(
      'exec',
      `-d,--detach --build --no-build --no-deps --no-start --no-color --no-log-prefix --pull:word
      --force-recreate --no-recreate --quiet-pull --scale:word --timeout:int -t:int --wait
      --wait-timeout:int -w,--watch --attach:word --abort-on-container-exit --exit-code-from:word
      --always-recreate-deps --remove-orphans!delete -V,--renew-anon-volumes!delete -y,--yes`,
      'word*',
    ),
    ...each('start restart unpause', docker('exec', '-t,--timeout:int --no-deps', 'word*')),
    ...each('create watch', docker('exec', '--build --no-build --force-recreate', 'word*')),
    build: docker(
      'exec',
      `--build-arg:word --no-cache --pull -q,--quiet --with-dependencies --push!net --ssh:exec
      --builder:config -m,--memory:word`,
      'word*',
    ),
    run: { ...docker('exec', RUN_OPTIONS, 'word exec*'), style: 'first' },
    exec: {
      ...docker('exec', '-T -d -i -t -e:word -u:exec -w:word --index:int', 'word exec*'),
      style: 'first',
    },
    pull: docker('net', '-q,--quiet --ignore-pull-failures --include-deps --policy:word', 'word*'),
    push: docker('net', '-q,--quiet', 'word*'),
    ...each('stop pause', docker('config', '-t,--timeout:int', 'word*')),
    ...each(
      'down rm kill',
      docker('delete', '-v,--volumes!delete --rmi:word!delete -t:int -f -s', 'word*'),
    ),
    cp: docker('delete', '', 'output*'),
  },
};

const COMPOSE_DEEDS: Deeds = {
  'deleted 3': 'down --volumes; rm --volumes',
  'published 2': 'push; build --push',
};

/** Images and containers can be made again; what is in a volume cannot. */
const CONTAINER_DEEDS: Deeds = {
  'deleted 3': `system prune; volume prune; volume rm; image prune; container prune; builder prune;
    compose down --volumes; compose rm --volumes`,
  'deleted 2': 'stack rm; service rm; secret rm; config rm; network prune; swarm leave --force',
  'published 2': `push; image push; build --push; buildx build --push; image build --push;
    compose push; compose build --push; stack deploy; service update`,
};

const CONTAINERS: Profile = {
  kind: 'exec',
  bare: 'read',
  style: 'exact',
  options: `-H,--host:config -c,--context:config --config:config --tls!config --tlscacert:config
    --tlscert:config --tlskey:config --tlsverify -l,--log-level:word -D,--debug -v,--version --help
    --url:config --connection:config -r,--remote!config --root:config --runtime:exec --module:config
    --hooks-dir:exec --conmon:exec --storage-opt:config`,
  subcommands: {
    ...LOOKS,
    ...STARTS,
    compose: COMPOSE,
    container: noun('ls ps logs inspect stats top port diff', STARTS),
    image: noun('ls inspect history', {
      build: STARTS.build ?? docker('exec', ''),
      pull: STARTS.pull ?? docker('net', ''),
    }),
    volume: noun('ls inspect'),
    network: noun('ls inspect'),
    context: noun('ls inspect show'),
    system: SYSTEM,
    buildx: {
      kind: 'exec',
      style: 'exact',
      options: '--builder:config',
      subcommands: {
        ...each('ls du version inspect', docker('read', '--verbose', 'word*')),
        build: STARTS.build ?? docker('exec', ''),
        ...each('create use rm prune bake', docker('config', '', 'config*')),
      },
    },
    ...each(
      'plugin swarm stack service node secret config trust machine',
      docker('config', '', 'config*'),
    ),
  },
};

export const DOCKER: Profiles = {
  ...each('docker podman nerdctl', { ...CONTAINERS, deeds: CONTAINER_DEEDS }),
  ...each('docker-compose podman-compose', { ...COMPOSE, deeds: COMPOSE_DEEDS }),
};
