import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const aptProgram = '/usr/bin/apt-get'
const lockProgram = '/usr/bin/flock'

/** Whether missing packages can be installed without asking: as root on Debian. */
const canInstall = (): boolean => process.getuid?.() === 0 && existsSync(aptProgram)

/** Where a program may be: on the PATH, and where Debian puts it. */
export const placesOf = (name: string): string[] =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'].map((directory) =>
    join(directory, name),
  )

/**
 * The first existing path of a program. If there is none, installs the first of the named packages that this Debian
 * has.
 * @throws Error with instructions when it is missing and cannot be installed
 */
export function programAt(
  places: readonly (string | undefined)[],
  debianPackages: readonly string[],
  advice: string,
): string {
  const found = places.find(isProgram) ?? (canInstall() ? installed(places, debianPackages) : undefined)
  if (found === undefined) throw new Error(advice)
  return found
}

/**
 * Installs packages where that needs no question.
 * @returns whether they are installed now
 */
export function installPackages(...names: readonly string[]): boolean {
  if (!canInstall()) return false
  try {
    aptGet('update')
    aptGet('install', '-y', '--no-install-recommends', ...names)
    return true
  } catch {
    return false
  }
}

function installed(
  places: readonly (string | undefined)[],
  debianPackages: readonly string[],
): string | undefined {
  aptGet('update')
  debianPackages.some((name) => {
    try {
      aptGet('install', '-y', '--no-install-recommends', name)
      return true
    } catch {
      return false
    }
  })
  return places.find(isProgram)
}

/** @throws Error for any exit code but 0 */
function aptGet(...words: string[]): void {
  // Another test may be installing a package at the same time, or reading the lists, for whose lock apt does not wait.
  const alone = ['--timeout', '600', aptProgram]
  const patient = ['-o', 'DPkg::Lock::Timeout=300', '-qq']
  // At run level 1 a package does not start its service, such as a web server.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync(lockProgram, [...alone, aptProgram, ...patient, ...words], { env, stdio: 'inherit' })
}

function isProgram(path: string | undefined): path is string {
  if (path === undefined || path === '') return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
