import type { Pool } from 'pg'
import type { NotaryLog } from '../domain/notary/notary-log.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Cause } from '../ledger/ledger.ts'
import type { LogSource } from '../ledger/raw/log.ts'
import type { Ports } from '../ports.ts'
import { type Checkpoint, parseCheckpoint } from '../transparency/checkpoint.ts'
import { NoteError, parseNote } from '../transparency/note/note.ts'
import { parseVerifierKey, verifyNote } from '../transparency/note/verifier.ts'
import { addLeaf, type Edge, emptyEdge, rootOf, sameHash } from '../transparency/tree/edge.ts'
import { leafOf } from './leaves.ts'
import { abandonedBy, checkNewest, type Known, NotResumable } from './newest.ts'
import { claim, readNotaryLog, type SigningPorts, startLog } from './signing-log.ts'

/**
 * Lets this database sign on for a log that was signed with another one, after the operator has said which checkpoint was
 * published last. Nothing smaller will be signed.
 * @throws NotResumable when it is not signed by the log's keys, or not the newest that others know, or its events are not
 *   those of the event store
 */
export async function resumeLog(
  ports: SigningPorts & { log: LogSource },
  input: Resumption,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<{ origin: string; size: number }> {
  return resumeAs(await readNotaryLog(ports), ports, input, onProgress)
}

/** From where a log is to go on. */
export type Resumption = {
  /** The signed checkpoint. */
  note: string
  /** Asks everybody who may know the newest checkpoint of the log. */
  known: (checkpoint: SignedState) => Promise<readonly Known[]>
  /** After how many events everything is given up, as the operator has confirmed. */
  abandonAfter: number | undefined
}

/** A checkpoint with its note. */
type SignedState = Checkpoint & { note: string }

/** The same for a log whose name and keys are known. @throws NotResumable */
export async function resumeAs(
  { origin, keys }: Pick<NotaryLog, 'origin' | 'keys'>,
  ports: Ports<'db' | 'now'> & { log: LogSource },
  { note, known, abandonAfter }: Resumption,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<{ origin: string; size: number }> {
  const { text } = checked(note, keys)
  const checkpoint = parseCheckpoint(text)
  const { origin: named, size, root } = checkpoint
  if (named !== origin)
    throw new NotResumable(`the checkpoint is of the log ${named}, and this ledger has ${origin ?? 'none'}`)
  const found = await known({ ...checkpoint, note })
  checkNewest(checkpoint, found)
  const edge = await edgeOf(ports.log, size, onProgress)
  if (edge.size < size)
    throw new NotResumable(
      `the checkpoint covers ${String(size)} events, and the event store has ${String(edge.size)} of them: ` +
        'bring the others back, or start another log: keyledger notary new-log',
    )
  if (!sameHash(rootOf(edge), root))
    throw new NotResumable(
      `the first ${String(size)} events are not those that the checkpoint covers: ` +
        'bring the others back, or start another log: keyledger notary new-log',
    )
  if (abandonAfter !== size) throw new NotResumable(abandonedBy(checkpoint, found))
  await rememberCheckpoint(ports.db, { origin: named, size, root, note, signedAt: ports.now().toISOString() })
  await claim(ports, named)
  return { origin: named, size }
}

function checked(note: string, keys: readonly string[]) {
  try {
    const parsed = parseNote(note)
    verifyNote(parsed, keys.map(parseVerifierKey))
    return parsed
  } catch (error) {
    if (error instanceof NoteError)
      throw new NotResumable(`that is no checkpoint of this log: ${error.message}`)
    throw error
  }
}

/** The tree over the first events of the log, as far as there are any. */
async function edgeOf(
  log: LogSource,
  size: number,
  onProgress: (done: number, total: number) => void,
): Promise<Edge> {
  let edge = emptyEdge
  for await (const { events } of log.pages(undefined)) {
    for (const event of events.slice(0, size - edge.size)) ({ edge } = addLeaf(edge, leafOf(event).hash))
    onProgress(edge.size, size)
    if (edge.size === size) break
  }
  return edge
}

async function rememberCheckpoint(
  db: Pool,
  {
    origin,
    size,
    root,
    note,
    signedAt,
  }: { origin: string; size: number; root: Uint8Array; note: string; signedAt: string },
): Promise<void> {
  await db.query(
    `insert into notary.checkpoint (origin, size, root, note, signed_at) values ($1, $2, $3, $4, $5)
     on conflict (only_row) do update set origin = $1, size = $2, root = $3, note = $4, signed_at = $5
       where checkpoint.origin <> $1 or checkpoint.size < $2`,
    [origin, size, root, note, signedAt],
  )
}

/**
 * Ends the present log and starts another one, which names the last known checkpoint of the present one.
 * @param origin undefined takes the name of the present log with the next number
 * @param lastCheckpoint a signed note; undefined takes the one in the database
 * @throws Refusal `notary_origin_used`, `notary_not_started`
 * @throws NotResumable for a checkpoint of another log, or an older one than the database has
 */
export async function startNextLog(
  ports: SigningPorts,
  { origin, lastCheckpoint }: { origin: string | undefined; lastCheckpoint: string | undefined },
  cause: Cause,
): Promise<string> {
  const { origin: present, predecessors, keys } = await readNotaryLog(ports)
  if (present === undefined) throw new Refusal('notary_not_started')
  const next = origin ?? nextOrigin(present, predecessors.length)
  const stored = await noteOf(ports.db, present)
  if (lastCheckpoint !== undefined) checkLast(lastCheckpoint, { origin: present, keys, stored })
  const known = lastCheckpoint ?? stored
  await startLog(ports, { origin: next, lastCheckpoint: known ?? null }, cause)
  return next
}

/** @throws NotResumable */
function checkLast(
  note: string,
  { origin, keys, stored }: { origin: string; keys: readonly string[]; stored: string | undefined },
): void {
  const given = parseCheckpoint(checked(note, keys).text)
  if (given.origin !== origin)
    throw new NotResumable(`the checkpoint is of the log ${given.origin}, and this ledger has ${origin}`)
  const { size } = stored === undefined ? { size: 0 } : parseCheckpoint(parseNote(stored).text)
  if (given.size < size)
    throw new NotResumable(
      `the checkpoint covers ${String(given.size)} events, and the database has one of ${String(size)}: leave --checkpoint out to name that one`,
    )
}

/** `licenses.example.com`, `licenses.example.com/2`, `licenses.example.com/3`. */
function nextOrigin(origin: string, before: number): string {
  const suffix = `/${String(before + 1)}`
  const base = before > 0 && origin.endsWith(suffix) ? origin.slice(0, -suffix.length) : origin
  return `${base}/${String(before + 2)}`
}

async function noteOf(db: Pool, origin: string): Promise<string | undefined> {
  const { rows } = await db.query<{ note: string }>('select note from notary.checkpoint where origin = $1', [
    origin,
  ])
  return rows[0]?.note
}
