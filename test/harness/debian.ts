import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'

/** Whether a package that is missing can be had without asking anybody: as root on Debian. */
const canInstall = (): boolean => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

/**
 * The first of the places where a program lies, after installing Debian's package of it if it lies in none.
 * @throws Error with the advice when it is not there and cannot be installed
 */
export function programAt(
  places: readonly (string | undefined)[],
  debianPackage: string,
  advice: string,
): string {
  const found = places.find(isProgram) ?? (canInstall() ? installed(places, debianPackage) : undefined)
  if (found === undefined) throw new Error(advice)
  return found
}

function installed(places: readonly (string | undefined)[], debianPackage: string): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Another test may be installing something of its own at this moment.
  const wait = ['-o', 'DPkg::Lock::Timeout=300', '-qq']
  execFileSync('apt-get', [...wait, 'update'], { env, stdio: 'inherit' })
  execFileSync('apt-get', [...wait, 'install', '-y', '--no-install-recommends', debianPackage], {
    env,
    stdio: 'inherit',
  })
  return places.find(isProgram)
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
