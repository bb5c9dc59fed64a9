import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPackages } from './debian.ts'

const run = promisify(execFile)

/** A Swift package that is built into a directory of its own. */
export type SwiftPackage = {
  /** Where the programs of the package are. */
  programs: string
  /** Runs a command of `swift` for the package, such as `build`. @returns what it prints @throws Error when it fails */
  swift(command: string, ...words: string[]): Promise<string>
  remove(): void
}

/** Whether there is a program of this name that answers this to a question for its version. */
const says = (program: string, words: readonly string[], version: RegExp): Promise<boolean> =>
  run(program, words).then(
    ({ stdout, stderr }) => version.test(stdout + stderr),
    () => false,
  )

/**
 * Opens a Swift package, to be built outside the checkout.
 * @param environment what its tests are told besides
 * @returns why it cannot be built here
 */
export async function openSwift(
  folder: string,
  environment: Record<string, string>,
): Promise<SwiftPackage | string> {
  // Another program with the name asks for files of OpenStack.
  if (!(await says('swift', ['--version'], /Swift version/))) return 'none was found'
  const hasSodium = () =>
    process.platform === 'darwin' ? true : says('pkg-config', ['--modversion', 'libsodium'], /^\d/)
  const needed = ['libsodium-dev', 'pkg-config']
  if (!(await hasSodium()) && (!installPackages(...needed) || !(await hasSodium())))
    return `it needs ${needed.join(' and ')}`
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const options = { env: { ...process.env, ...environment }, maxBuffer: 2 ** 26 }
  return {
    programs: join(directory, 'debug'),
    async swift(command, ...words) {
      const places = ['--package-path', folder, '--scratch-path', directory]
      const { stdout, stderr } = await run('swift', [command, ...places, '--jobs', '2', ...words], options)
      return stdout + stderr
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
