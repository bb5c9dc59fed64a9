import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chownSync, lchownSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { LocalPostgresError, useAnotherPostgres } from './error.ts'
import { lastLines } from './log-file.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** How to run a program: what to hand to `spawn`. */
interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly identity: { uid?: number; gid?: number }
}

/** As whom Postgres runs. */
export interface Account {
  /** Who must own the cluster's files; undefined where that is whoever we are. */
  readonly owner: Owner | undefined
  command(program: string, args: readonly string[]): Command
}

/** The user whom root lets Postgres run as, or undefined where this process is not root. */
export function serverUser(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = new Map<string, Owner>()
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? '')) {
      users.set(name, { uid: Number(uid), gid: Number(gid) })
    }
  }
  // Any ordinary number will do where neither is known: it only has to be somebody without rights.
  return users.get('postgres') ?? users.get('_postgres') ?? users.get('nobody') ?? { uid: 65534, gid: 65534 }
}

/**
 * Decides as whom Postgres runs, since it refuses to run as root. The ways are tried from the least rights to
 * the most, and the first that can enter the programs' directory and the cluster's is taken:
 *
 * 1. as ourselves, when we are an ordinary user, or as the `postgres` user or `nobody`, when we are root;
 * 2. as that user, with the one capability of passing through directories that are closed to it (root's home);
 * 3. in a user namespace, where root appears as that user (also where an ordinary user has no name).
 *
 * @throws LocalPostgresError when none of them works here
 */
export function chooseAccount(binaries: Binaries, directory: string): Account {
  const complaints: string[] = []
  for (const { name, account } of waysToRun()) {
    const result = tryOut(account, binaries, directory)
    if (result.status === 0) return account
    complaints.push(`${name}: ${lastLines(result.error?.message ?? result.stderr, 2) || 'may not enter'}`)
  }
  throw new LocalPostgresError(
    `${adviceFor(dirname(binaries.postgres), directory)}\n${complaints.join('\n')}`,
  )
}

function adviceFor(programs: string, directory: string): string {
  if (process.getuid?.() !== 0) {
    return `The embedded Postgres in ${programs} does not run for this user. Mend what is said below, ${useAnotherPostgres}.`
  }
  return (
    `Postgres cannot run here, because it refuses to run as root and no other user can reach both ${programs} ` +
    `and ${directory}. Start keyledger as an ordinary user, or move it to a directory that every user may enter ` +
    `(chmod o+x), ${useAnotherPostgres}.`
  )
}

function waysToRun(): { name: string; account: Account }[] {
  const user = serverUser()
  if (!user) {
    return [
      { name: 'as this user', account: plain(undefined) },
      { name: 'in a user namespace', account: namespaced(65534, undefined) },
    ]
  }
  return [
    { name: `as uid ${user.uid}`, account: plain(user) },
    { name: `as uid ${user.uid} with CAP_DAC_OVERRIDE`, account: privileged(user) },
    { name: 'in a user namespace', account: namespaced(user.uid, { uid: 0, gid: 0 }) },
  ]
}

function plain(owner: Owner | undefined): Account {
  return { owner, command: (program, args) => ({ file: program, args, identity: { ...owner } }) }
}

function privileged(owner: Owner): Account {
  const options = [
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // Without this the access(2) system call, by which Postgres looks for its programs, ignores capabilities.
    '--securebits=+no_setuid_fixup',
  ]
  return {
    owner,
    command: (program, args) => ({ file: 'setpriv', args: [...options, program, ...args], identity: {} }),
  }
}

function namespaced(uid: number, owner: Owner | undefined): Account {
  return {
    owner,
    command: (program, args) => ({
      file: 'unshare',
      args: ['--user', `--map-user=${uid}`, program, ...args],
      identity: {},
    }),
  }
}

/** Whether the account can enter the directory's parent and run Postgres' programs, which look for each other. */
function tryOut(account: Account, binaries: Binaries, directory: string): SpawnSyncReturns<string> {
  const script = 'test -x "$1" && exec "$2" --show -D "$3"'
  const args = ['-c', script, 'sh', dirname(directory), binaries.initdb, join(directory, 'data')]
  const command = account.command('/bin/sh', args)
  return spawnSync(command.file, command.args, {
    ...command.identity,
    cwd: '/',
    env: serverEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

/** The environment of Postgres' programs: nothing of ours, since PGDATA, PGPORT or LANG would change what they do. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }
}

/**
 * Makes everything in a directory belong to the account, when root started it in another way before. The
 * directory itself comes last, so that an interrupted change is done again.
 */
export function giveTo(account: Account, directory: string): void {
  const { owner } = account
  if (!owner || lstatSync(directory).uid === owner.uid) return
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, entry), owner.uid, owner.gid)
  }
  chownSync(directory, owner.uid, owner.gid)
}
