// What a newcomer, or an agent that knows nothing of cuff, types on the first day of a project. The
// lists were written before any preset was tried on them, and are not changed to suit one.

export type NewcomerList = {
  readonly kind: string;
  /** The files of its project, with their text. */
  readonly files: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
  /** How many a preset has to allow at the first try. */
  readonly allowedMin: number;
  /** Those that `dev` asks about, each with the reason why that is right. */
  readonly asked: ReadonlyMap<string, string>;
  /** Where they stand in `commands`, from 0: all that `read-only` allows. */
  readonly reading: readonly number[];
};

const PACKAGE = JSON.stringify({
  name: 'shop',
  scripts: {
    build: 'tsc -p tsconfig.build.json',
    dev: 'tsx watch src/server.ts',
    format: 'prettier --write src',
    lint: 'eslint src',
    test: 'vitest run',
    deploy: 'npm run build && fly deploy',
    seed: 'node scripts/seed.mjs',
  },
  dependencies: { express: '^5.0.0' },
  devDependencies: { eslint: '^9', prettier: '^3', typescript: '^5', vitest: '^3', tsx: '^4' },
});

const NODE: NewcomerList = {
  kind: 'Node',
  files: { 'package.json': PACKAGE, 'package-lock.json': '{}', 'tsconfig.json': '{}' },
  commands: [
    'npm install',
    'rm -rf dist && npm run build',
    'npm test 2>&1 | tail -40',
    'npx vitest run src/config.test.ts -t "empty config"',
    'npm run lint -- --fix',
    'npx eslint src/config.ts --fix',
    'npx prettier --write src',
    'npx tsc --noEmit',
    'npm run dev',
    'node scripts/seed.mjs',
    'grep -rn "parseConfig" src --include="*.ts" | head -20',
    'cat package.json | jq .scripts',
    'find . -name "*.ts" -not -path "./node_modules/*" | xargs wc -l | sort -n | tail -10',
    "sed -n '1,80p' src/config.ts",
    'git status && git diff --stat',
    'git log --oneline -10',
    'git add -A && git commit -m "config: an empty file is no error"',
    `cat > src/health.ts <<'EOF'
export function health(): string {
  return "ok";
}
EOF`,
    'mkdir -p src/lib && mv src/util.ts src/lib/util.ts',
    'lsof -ti:3000 | xargs kill -9',
    'curl -s http://localhost:3000/api/health | jq .status',
    'npm install --save-dev @types/express',
  ],
  allowedMin: 18,
  asked: new Map([
    ['node scripts/seed.mjs', 'it runs a file that the agent may have written; name it in a rule'],
    ['lsof -ti:3000 | xargs kill -9', 'which process ends is only known when it runs'],
    ['npm install --save-dev @types/express', 'a package that the project does not declare'],
  ]),
  reading: [10, 11, 12, 13, 14, 15],
};

const PYPROJECT = `[project]
name = "shop"
dependencies = ["flask"]

[project.optional-dependencies]
dev = ["pytest", "ruff", "mypy"]

[tool.ruff]
line-length = 100
`;

const PYTHON: NewcomerList = {
  kind: 'Python',
  files: { 'pyproject.toml': PYPROJECT, 'requirements.txt': 'flask\n' },
  commands: [
    'python3 -m venv .venv',
    'source .venv/bin/activate && pip install -r requirements.txt',
    'pip install -e ".[dev]"',
    'pytest',
    'python -m pytest tests/test_config.py -k "empty" -x',
    'pytest tests/test_config.py::test_empty -vv 2>&1 | tail -30',
    'ruff check . --fix',
    'ruff format src tests',
    'mypy src',
    'python src/shop/main.py --help',
    'python -c "import shop; print(shop.__version__)"',
    'grep -rn "def parse" src --include="*.py"',
    'cat pyproject.toml | head -40',
    'git status --short && git diff',
    'git add src tests && git commit -m "config: an empty file is no error"',
    `cat > tests/test_health.py <<'EOF'
from shop.health import health

def test_health():
    assert health() == "ok"
EOF`,
    'mv src/shop/utils.py src/shop/text.py',
    'find . -name "*.py" -not -path "./.venv/*" | xargs wc -l | sort -n | tail -5',
    'curl -s http://127.0.0.1:8000/health',
  ],
  allowedMin: 16,
  asked: new Map([
    [
      'source .venv/bin/activate && pip install -r requirements.txt',
      'only an activation script that is there can be known by its content',
    ],
    ['python src/shop/main.py --help', 'it runs a file that the agent may have written'],
    ['python -c "import shop; print(shop.__version__)"', 'it runs code that no file has'],
  ]),
  reading: [11, 12, 13, 17],
};

const RUST: NewcomerList = {
  kind: 'Rust',
  files: { 'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\n', 'Cargo.lock': '' },
  commands: [
    'cargo build',
    'cargo build --release 2>&1 | tail -20',
    'cargo test',
    'cargo test config::tests::empty -- --nocapture',
    'cargo clippy --all-targets -- -D warnings',
    'cargo fmt',
    'cargo fmt --check',
    'cargo run -- --help',
    'cargo add serde --features derive',
    'rustc --version && cargo --version',
    'rg -n "fn parse" src',
    'cat Cargo.toml; ls -la src',
    'git status && git diff',
    'git add -A && git commit -m "config: an empty file is no error"',
    `cat > src/health.rs <<'EOF'
pub fn health() -> &'static str {
    "ok"
}
EOF`,
    'mv src/util.rs src/text.rs && cargo check',
  ],
  allowedMin: 14,
  asked: new Map([
    ['cargo add serde --features derive', 'a package that the project does not declare'],
  ]),
  reading: [10, 11, 12],
};

const GO: NewcomerList = {
  kind: 'Go',
  files: { 'go.mod': 'module example.org/shop\n\ngo 1.24\n', 'go.sum': '' },
  commands: [
    'go mod download',
    'go build ./...',
    'go test ./...',
    'go test ./internal/config -run TestEmpty -v 2>&1 | tail -20',
    'go vet ./...',
    'gofmt -l .',
    'gofmt -w internal',
    'go run ./cmd/shop --help',
    'go get github.com/stretchr/testify',
    'go mod tidy',
    'grep -rn "func Parse" --include="*.go" . | head',
    'git diff HEAD~1 -- internal | head -100',
    'git add -A && git commit -m "config: an empty file is no error"',
    `cat > internal/health.go <<'EOF'
package internal
EOF`,
    'mv internal/util.go internal/text.go',
    'curl -sS -o /dev/null -w "%{http_code}" http://localhost:8080/health',
  ],
  allowedMin: 14,
  asked: new Map([
    ['go get github.com/stretchr/testify', 'a package that the project does not declare'],
  ]),
  reading: [10, 11],
};

const MAKEFILE = `CC = gcc
.PHONY: all test clean install

all: shop

shop: main.o config.o
\t$(CC) -o $@ $^

test: all
\t./tests/run.sh

clean:
\trm -f *.o shop

install: shop
\tsudo cp shop /usr/local/bin
`;

const MAKE: NewcomerList = {
  kind: 'Make',
  files: { Makefile: MAKEFILE, 'main.c': 'int main(void) { return 0; }\n' },
  commands: [
    'make',
    'make -j4',
    'make test 2>&1 | tail -20',
    'make clean && make',
    'make install',
    'grep -n "parse_config" *.c *.h',
    'head -50 config.c',
    './shop --help',
    "sed -i 's/parse_cfg/parse_config/g' config.c",
    'git status && git diff',
    'git add -A && git commit -m "config: an empty file is no error"',
    `cat > health.c <<'EOF'
int health(void) { return 1; }
EOF`,
    'mv util.c text.c',
    'gcc -Wall -c health.c',
  ],
  allowedMin: 11,
  asked: new Map([
    ['make install', 'it runs as another user'],
    ['./shop --help', 'it runs a file that the agent may have written'],
    ['gcc -Wall -c health.c', 'the preset names no compilers: make calls them'],
  ]),
  reading: [5, 6, 9],
};

export const NEWCOMERS: readonly NewcomerList[] = [NODE, PYTHON, RUST, GO, MAKE];
