import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPackages } from './debian.ts'

/** Where the packages of Debian put the sources of crates. */
const registry = '/usr/share/cargo/registry'
const cargo = '/usr/bin/cargo'

/** The crates that the client in Rust is built with, which tell whether the packages that have them are there. */
const crates = [
  'data-encoding-2.3.2',
  'ring-0.16.20',
  'serde_json-1.0.87',
  'unicode-normalization-0.1.22',
  'ureq-2.6.2',
]
const packages = [
  ...[
    'cargo',
    'rustc',
    'gcc',
    'perl',
    'librust-data-encoding-dev',
    'librust-ring-dev',
    'librust-serde-json-dev',
  ],
  ...['librust-indexmap-dev', 'librust-unicode-normalization-dev', 'librust-ureq-dev'],
]

/**
 * A directory for crates that are built with the cargo and the crates of Debian, without a registry. What two of them depend on is
 * compiled once.
 */
export type Workshop = {
  directory: string
  /** Where the programs are that {@link Workshop.cargo} builds. */
  target: string
  environment: NodeJS.ProcessEnv
  /** Runs cargo in a folder of the directory. @returns what it prints @throws Error when it fails */
  cargo(folder: string, ...words: string[]): Promise<string>
  remove(): void
}

/** Makes a directory for crates outside the checkout. @returns why none can be built here */
export function openWorkshop(): Workshop | string {
  const isThere = () => existsSync(cargo) && crates.every((name) => existsSync(join(registry, name)))
  if (!isThere() && (!installPackages(...packages) || !isThere())) return `install ${packages.join(', ')}`
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const config = join(directory, 'config.toml')
  const source = `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "${registry}"\n`
  writeFileSync(config, source)
  const target = join(directory, 'target')
  const environment = {
    ...process.env,
    CARGO_TARGET_DIR: target,
    CARGO_BUILD_JOBS: '2',
    CARGO_INCREMENTAL: '0',
    CARGO_PROFILE_TEST_DEBUG: '0',
    CARGO_PROFILE_DEV_DEBUG: '0',
    NO_PROXY: '127.0.0.1',
    // Those of Debian, whatever else is on the PATH.
    RUSTC: '/usr/bin/rustc',
    RUSTDOC: '/usr/bin/rustdoc',
  }
  return {
    ...{ directory, target, environment },
    async cargo(folder, ...words) {
      const options = { cwd: join(directory, folder), env: environment, maxBuffer: 2 ** 26 }
      const { stdout } = await promisify(execFile)(
        cargo,
        ['--config', config, '--offline', ...words],
        options,
      )
      return stdout
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/**
 * Copies a crate of the checkout to the workshop, beside the documentation and the tests of the checkout, which its tests read.
 * @param folder of the crate in the checkout @returns what runs cargo in it
 */
export function copyCrate({ directory, cargo }: Workshop, root: string, folder: string) {
  for (const name of ['docs', 'test']) symlinkSync(join(root, name), join(directory, name))
  cpSync(join(root, folder), join(directory, folder), { recursive: true })
  return (...words: string[]) => cargo(folder, ...words)
}
