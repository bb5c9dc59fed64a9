import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPackages } from './debian.ts'

/** Where the packages of Debian put the sources of crates. */
const crates = '/usr/share/cargo/registry'
const cargo = '/usr/bin/cargo'

/** A crate that is built with the cargo and the crates of Debian, without a registry. */
export type Crate = {
  /** Where the programs are that {@link Crate.cargo} builds. */
  target: string
  environment: NodeJS.ProcessEnv
  /** Runs cargo. @returns what it prints @throws Error when it fails */
  cargo(...words: string[]): Promise<string>
  remove(): void
}

/**
 * Copies a crate to a directory outside the checkout, beside the documentation and the tests of the checkout, which its tests read.
 * @param folder of the crate in the checkout
 * @param names of the crates that it needs, which tell whether the packages are there
 * @param packages of Debian that have them, and cargo
 * @returns why it cannot be built here
 */
export function openCrate(
  root: string,
  folder: string,
  names: readonly string[],
  packages: readonly string[],
): Crate | string {
  const isThere = () => existsSync(cargo) && names.every((name) => existsSync(join(crates, name)))
  if (!isThere() && (!installPackages(...packages) || !isThere())) return `install ${packages.join(', ')}`
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  for (const name of ['docs', 'test']) symlinkSync(join(root, name), join(directory, name))
  const copy = join(directory, folder)
  cpSync(join(root, folder), copy, { recursive: true })
  const config = join(directory, 'config.toml')
  const source = `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "${crates}"\n`
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
    target,
    environment,
    async cargo(...words) {
      const options = { cwd: copy, env: environment, maxBuffer: 2 ** 26 }
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
