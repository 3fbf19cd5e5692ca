// Programs without a profile: to a policy their words may mean anything. Only the calls are known
// that deserve a look afterwards.

import type { Deeds } from '../profile.ts';

export const UNREAD: Readonly<Record<string, Deeds>> = {
  // Databases.
  dropdb: { 'deleted 3': '*' },
  mysqladmin: { 'deleted 3': '** drop' },
  wp: { 'deleted 3': 'db drop; db reset; db clean', 'deleted 2': 'site empty' },
  drush: { 'deleted 3': 'sql-drop; sql:drop' },
  // Clouds and clusters.
  gsutil: { 'deleted 3': 'rm; rb', 'sent 2': 'cp ** gs://*; rsync ** gs://*; mv ** gs://*' },
  bq: { 'deleted 3': 'rm' },
  s3cmd: { 'deleted 3': 'del; rm; rb', 'sent 2': 'put; sync * s3://*' },
  eksctl: { 'deleted 3': 'delete', 'published 2': 'create; upgrade' },
  argocd: { 'deleted 3': '* delete', 'published 2': 'app sync' },
  sls: { 'deleted 3': 'remove', 'published 2': 'deploy' },
  // Publishing.
  goreleaser: { 'published 3': 'release !--snapshot' },
  jsr: { 'published 3': 'publish' },
  'semantic-release': { 'published 3': '** !-d' },
  'release-it': { 'published 3': '** !-d' },
  flit: { 'published 3': 'publish' },
  maturin: { 'published 3': 'publish; upload' },
  'wasm-pack': { 'published 3': 'publish' },
  vsce: { 'published 3': 'publish; unpublish' },
  ovsx: { 'published 3': 'publish' },
  pod: { 'published 3': 'trunk push; repo push' },
  eas: { 'published 2': 'submit; update' },
  // Keys.
  'secret-tool': { 'secret 2': 'lookup; search', 'deleted 2': 'clear' },
  keyring: { 'secret 2': 'get' },
  sops: { 'secret 2': '-d; --decrypt; decrypt; exec-env' },
  doppler: { 'secret 2': 'secrets' },
  gopass: { 'secret 2': 'show; cat' },
  lpass: { 'secret 2': 'show; export' },
  bw: { 'secret 2': 'get; export; list' },
  // Disks.
  wipefs: { 'dangerous 3': '--all; -a; -af' },
  diskutil: { 'dangerous 3': 'erase*; partitionDisk; apfs delete*' },
  uudecode: { decodes: '**' },
};
