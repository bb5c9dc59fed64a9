import { chmodSync, chownSync, lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { serverUser } from '../postgres/account.ts'

/** Access that other users of the machine have to the data directory. */
export type Exposure = {
  readonly path: string
  /** A sentence that says what is wrong and how to fix it. */
  readonly problem: string
}

const group = 0o070
const others = 0o007
const write = 0o022
const sticky = 0o1000

/** The entries that keyledger creates in a data directory. */
const ownEntries = /^(?:eventstore|postgres|run|mailbox|welcomed|master\.key(?:\.\d+)?)$/

/**
 * Removes other users' access to a data directory and keyledger's files in it. If this is root, the group of
 * the user who runs Postgres can still pass through the directory. A directory with other files is left
 * unchanged, because others may need it; keyledger's own files in it are restricted anyway.
 *
 * @returns what was accessible before
 */
export function restrictAccess(root: string): Exposure[] {
  const found = lstatSync(root)
  if (found.uid !== process.getuid?.() || !readdirSync(root).every((name) => ownEntries.test(name))) return []
  const closed = [...openPaths(root)].filter(
    ({ path, stats }) => stats.uid === process.getuid?.() && path !== root,
  )
  for (const { path, stats } of closed) chmodSync(path, stats.mode & 0o7700)
  const wasOpen = isOpen(found)
  const user = serverUser()
  if (user) chownSync(root, found.uid, user.gid)
  chmodSync(root, user ? 0o710 : 0o700)
  return [...(wasOpen ? [{ path: root, stats: found }] : []), ...closed].map(({ path, stats }) => ({
    path,
    problem: `Other users could ${rights(stats)} ${path}; keyledger has removed their access.`,
  }))
}

/** Whether every user can write to a directory. */
export function isWritableByAll(root: string): boolean {
  return (lstatSync(root).mode & others & write) !== 0
}

/**
 * Finds what other users can read, change or replace in a data directory and its parents. A directory that they
 * cannot enter hides its contents, except for the master key, whose file is always checked.
 */
export function findExposures(dataDirectory: string): Exposure[] {
  let root: string
  try {
    root = realpathSync(dataDirectory)
  } catch {
    return []
  }
  const exposures = [...openPaths(root)].map(({ path, stats }) => ({
    path,
    problem: `Other users can ${rights(stats)} ${path}: run chmod go= ${path}`,
  }))
  const key = join(root, 'master.key')
  const stats = lstatSync(key, { throwIfNoEntry: false })
  if (stats && isOpen(stats) && !exposures.some(({ path }) => path === key)) {
    exposures.push({ path: key, problem: `Other users can access the master key: run chmod go= ${key}` })
  }
  return [...exposures, ...foreignOwners(root), ...openParents(root)]
}

function foreignOwners(root: string): Exposure[] {
  const ours = [process.getuid?.(), 0, serverUser()?.uid]
  return [root, ...readdirSync(root).map((name) => join(root, name))].flatMap((path) => {
    const { uid } = lstatSync(path)
    if (ours.includes(uid)) return []
    return [
      { path, problem: `${path} belongs to another user (${uid}): run chown ${process.getuid?.()} ${path}` },
    ]
  })
}

function openParents(root: string): Exposure[] {
  const findings: Exposure[] = []
  for (let path = dirname(root); ; path = dirname(path)) {
    const { mode, uid, gid } = lstatSync(path)
    const writable = mode & write & (isOwnGroup(gid) ? others : others | group)
    if (writable !== 0 && (mode & sticky) === 0) {
      findings.push({ path, problem: `Other users can replace what is in ${path}: run chmod go-w ${path}` })
    }
    if (uid !== 0 && uid !== process.getuid?.()) {
      findings.push({
        path,
        problem: `User ${uid} can replace what is in ${path}: move the data directory, or chown it`,
      })
    }
    if (path === dirname(path)) return findings
  }
}

/**
 * Whether a group is this user's private group, as many systems create for each user, without other members.
 */
function isOwnGroup(gid: number): boolean {
  if (gid !== process.getgid?.()) return false
  const fieldsOf = (file: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
  try {
    const users = fieldsOf('/etc/passwd').filter((fields) => fields[3] === String(gid))
    const members = fieldsOf('/etc/group').find((fields) => fields[2] === String(gid))?.[3] ?? ''
    return users.every((fields) => fields[2] === String(process.getuid?.())) && members === ''
  } catch {
    return false
  }
}

/** Paths under a directory that other users can reach and access. */
function* openPaths(path: string): Iterable<{ path: string; stats: Stats }> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  // A running part removes its own files. The target of a link has its own rights.
  if (!stats || stats.isSymbolicLink()) return
  if (isOpen(stats)) yield { path, stats }
  if (!stats.isDirectory() || (stats.mode & 0o011) === 0) return
  for (const name of readdirSync(path)) yield* openPaths(join(path, name))
}

/** Whether others have more access than passing through a directory, which the user who runs Postgres needs. */
function isOpen(stats: Stats): boolean {
  const passes = process.getuid?.() === 0 && stats.isDirectory() && stats.gid === serverUser()?.gid
  const traversal = passes ? 0o010 : 0
  return (stats.mode & (group | others) & ~traversal) !== 0
}

function rights({ mode }: Stats): string {
  const can = [
    [0o044, 'read'],
    [write, 'write'],
    [0o011, 'enter'],
  ] as const
  return can.flatMap(([bits, word]) => (mode & bits ? [word] : [])).join(' and ')
}
