import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chownSync, lchownSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LocalPostgresError, useAnotherPostgres } from '../errors.ts'
import type { Binaries } from './binaries.ts'
import { lastLines } from './log-file.ts'

export type Owner = {
  readonly uid: number
  readonly gid: number
}

/** A program call for `spawn`. */
type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly identity: { uid?: number; gid?: number }
}

/** The user that Postgres runs as. */
export type Account = {
  /** The required owner of the cluster's files; undefined for this user. */
  readonly owner: Owner | undefined
  command(program: string, args: readonly string[]): Command
}

/** The user that Postgres runs as when this process is root; undefined when it is not. */
export function serverUser(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = new Map<string, Owner>()
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? '')) {
      users.set(name, { uid: Number(uid), gid: Number(gid) })
    }
  }
  // Without such a user, any uid without rights will do.
  return (
    users.get('keyledger') ??
    users.get('postgres') ??
    users.get('_postgres') ??
    users.get('nobody') ?? { uid: 65534, gid: 65534 }
  )
}

/**
 * Chooses the user that Postgres runs as, since it refuses to run as root. None of the ways below gives it
 * capabilities. The first one that can reach the programs' directory and the cluster's is used:
 *
 * 1. as this user, or as the server user when this user is root;
 * 2. as the server user with its own mounts, in which inaccessible directories (root's home) contain only the
 * programs and the cluster;
 * 3. when this user's uid has no name: in a user namespace, where it has one.
 *
 * @throws LocalPostgresError when none of them works here
 */
export function chooseAccount(binaries: Binaries, directory: string): Account {
  const failures: string[] = []
  for (const { name, account } of candidateAccounts(binaries, directory)) {
    const result = probe(account, binaries, directory)
    if (result.status === 0) return account
    failures.push(`${name}: ${lastLines(result.error?.message ?? result.stderr, 2) || 'no access'}`)
  }
  throw new LocalPostgresError(`${adviceFor(binaries, directory)}\n${failures.join('\n')}`)
}

function adviceFor(binaries: Binaries, directory: string): string {
  const programs = dirname(binaries.postgres)
  const user = serverUser()
  if (!user) {
    return `The embedded Postgres in ${programs} does not run for this user. Fix the problems below, ${useAnotherPostgres}.`
  }
  const closed = inaccessibleParents(user, [programs, directory])
  const fix =
    closed.length === 0 ? 'to a directory that every user can enter' : `or run chmod o+x ${closed.join(' ')}`
  return (
    `Postgres cannot run here, because it refuses to run as root and no other user can reach both ${programs} ` +
    `and ${directory}. Start keyledger as an ordinary user, move it ${fix}, ${useAnotherPostgres}.`
  )
}

function candidateAccounts(binaries: Binaries, directory: string): { name: string; account: Account }[] {
  const user = serverUser()
  if (!user) {
    return [
      { name: 'as this user', account: plain(undefined) },
      { name: 'in a user namespace', account: namespaced(65534) },
    ]
  }
  return [
    { name: `as uid ${user.uid}`, account: plain(user) },
    { name: `as uid ${user.uid} with mounts of its own`, account: withOwnMounts(user, binaries, directory) },
  ]
}

function plain(owner: Owner | undefined): Account {
  return { owner, command: (program, args) => ({ file: program, args, identity: { ...owner } }) }
}

/**
 * Mounts empty directories over the inaccessible ones, and mounts the programs and the cluster at their paths
 * in them. Only Postgres sees these mounts, and it gets no rights that its user does not have.
 */
function withOwnMounts(owner: Owner, binaries: Binaries, directory: string): Account {
  const programs = dirname(dirname(binaries.postgres))
  const script = `set -e
umask 022
programs=$1 cluster=$2 user=$3 group=$4
shift 4
exec 3<"$programs" 4<"$cluster"
while [ "$1" != -- ]; do mount -t tmpfs -o mode=0755,size=1m tmpfs "$1"; shift; done
shift
mkdir -p "$programs" "$cluster"
mount --no-canonicalize --bind /proc/self/fd/3 "$programs"
mount --no-canonicalize --bind /proc/self/fd/4 "$cluster"
exec 3<&- 4<&-
exec setpriv --reuid="$user" --regid="$group" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs "$@"`
  return {
    owner,
    command: (program, args) => ({
      file: 'unshare',
      args: [
        ...['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh'],
        ...[programs, directory, String(owner.uid), String(owner.gid)],
        ...[...inaccessibleParents(owner, [programs, directory]), '--', program, ...args],
      ],
      identity: {},
    }),
  }
}

/** For each path, the first parent directory that the user cannot enter. */
function inaccessibleParents(user: Owner, paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const steps = dirname(path).split('/').filter(Boolean)
    const parents = ['/', ...steps.map((_, index) => `/${steps.slice(0, index + 1).join('/')}`)]
    return parents.find((parent) => !mayEnter(user, parent)) ?? []
  })
  return [...new Set(found)]
}

function mayEnter({ uid, gid }: Owner, directory: string): boolean {
  const stats = statSync(directory)
  const bit = stats.uid === uid ? 0o100 : stats.gid === gid ? 0o010 : 0o001
  return (stats.mode & bit) !== 0
}

function namespaced(uid: number): Account {
  return {
    owner: undefined,
    command: (program, args) => ({
      file: 'unshare',
      args: ['--user', `--map-user=${uid}`, program, ...args],
      identity: {},
    }),
  }
}

/**
 * Checks that the account can enter the directory's parent and run Postgres' programs, which look for each
 * other.
 */
function probe(account: Account, binaries: Binaries, directory: string): SpawnSyncReturns<string> {
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

/**
 * The environment of Postgres' programs. It excludes this process's variables, since PGDATA, PGPORT or LANG
 * would change their behavior.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }
}

/**
 * Gives a directory to the account, in case root started it in another way before. The directory itself comes
 * last, so that an interrupted change is repeated.
 */
export function changeOwner(account: Account, directory: string): void {
  const { owner } = account
  if (!owner || lstatSync(directory).uid === owner.uid) return
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, entry), owner.uid, owner.gid)
  }
  chownSync(directory, owner.uid, owner.gid)
}
