import type { ClientBase, Pool } from 'pg'
import { addLeaf, type Edge, emptyEdge, type Hash, hashBytes } from '../transparency/tree/edge.ts'
import { type ReadTile, tileHeight, tilePath, tileWidth } from '../transparency/tree/tiles.ts'

/** The place of an event that survives a move to another event store. */
export type EventPlace = { stream: string; revision: number; id: string }

/** How far the tree reaches. */
export type TreeState = {
  edge: Edge
  /** The event of the last leaf; undefined in the empty tree. */
  last: EventPlace | undefined
}

/** An event and its hash. */
export type Leaf = { place: EventPlace; hash: Hash }

/** Another process has added leaves meanwhile; nothing was written. */
class TreeMoved extends Error {}

type Row = {
  size: string
  subtrees: Buffer
  last_stream: string | null
  last_revision: string | null
  last_event_id: string | null
}

/** Reads how far the tree reaches. */
export async function readTree(db: Pool | ClientBase): Promise<TreeState> {
  const { rows } = await db.query<Row>('select * from notary.tree')
  const [row] = rows
  if (!row) return { edge: emptyEdge, last: undefined }
  const { last_stream: stream, last_revision: revision, last_event_id: id } = row
  return {
    edge: { size: Number(row.size), subtrees: hashesIn(row.subtrees) },
    last: stream === null || id === null ? undefined : { stream, revision: Number(revision), id },
  }
}

const hashesIn = (bytes: Buffer): Hash[] =>
  Array.from({ length: bytes.length / hashBytes }, (_, at) =>
    bytes.subarray(at * hashBytes, (at + 1) * hashBytes),
  )

/**
 * Reads how far the tree of a log reaches. The tree of an earlier log is removed: its checkpoints and receipts stay valid
 * without it.
 */
export async function openTree(client: ClientBase, origin: string): Promise<TreeState> {
  await client.query('begin')
  try {
    // Otherwise a second process that has seen the earlier log, too, would remove the first tiles of the new one.
    await client.query('lock table notary.tree in share row exclusive mode')
    const { rowCount } = await client.query('select from notary.tree where origin <> $1', [origin])
    if (rowCount === 1)
      await client.query(
        'delete from notary.tree; delete from notary.tiles; delete from notary.checkpoint; delete from notary.checkpoints',
      )
    await client.query(
      'insert into notary.tree (size, subtrees, origin) values (0, $2, $1) on conflict do nothing',
      [origin, Buffer.alloc(0)],
    )
    const tree = await readTree(client)
    await client.query('commit')
    return tree
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/**
 * Adds leaves in one transaction: the tree and its tiles change together.
 * @param leaves in log order, at least one
 * @returns the new state
 * @throws TreeMoved when the tree is no longer the one of the given state
 */
export async function addLeaves(
  client: ClientBase,
  state: TreeState,
  leaves: readonly [Leaf, ...Leaf[]],
): Promise<TreeState> {
  let { edge } = state
  const rows: Hash[][] = []
  for (const { hash } of leaves) {
    const added = addLeaf(edge, hash)
    edge = added.edge
    for (const completed of added.completed) {
      if (completed.level % tileHeight !== 0) continue
      const row = rows[completed.level / tileHeight]
      if (row) row.push(completed.hash)
      else rows[completed.level / tileHeight] = [completed.hash]
    }
  }
  const { place: last } = leaves.at(-1) ?? leaves[0]
  await client.query('begin')
  try {
    await replaceTree(client, state.edge, edge, last)
    for (const [level, hashes] of rows.entries()) {
      const first = Math.floor(state.edge.size / tileWidth ** level)
      await appendToTiles(client, level, first, hashes, leaves)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
  return { edge, last }
}

/** The edge tells trees of one size apart: another process may have begun another log meanwhile. */
async function replaceTree(client: ClientBase, before: Edge, edge: Edge, last: EventPlace): Promise<void> {
  const { rowCount } = await client.query(
    `update notary.tree
     set size = $1, subtrees = $2, last_stream = $3, last_revision = $4, last_event_id = $5
     where size = $6 and subtrees = $7`,
    [
      edge.size,
      Buffer.concat(edge.subtrees),
      last.stream,
      last.revision,
      last.id,
      before.size,
      Buffer.concat(before.subtrees),
    ],
  )
  if (rowCount !== 1) throw new TreeMoved('another process has continued the tree')
}

/**
 * Appends hashes to the tiles of a level.
 * @param first the index of the first of them at its level
 * @param leaves those of level 0, whose events the tiles name
 */
async function appendToTiles(
  client: ClientBase,
  level: number,
  first: number,
  hashes: readonly Hash[],
  leaves: readonly Leaf[],
): Promise<void> {
  let done = 0
  while (done < hashes.length) {
    const index = Math.floor((first + done) / tileWidth)
    const part = hashes.slice(done, done + tileWidth - ((first + done) % tileWidth))
    const place = level === 0 ? leaves[done]?.place : undefined
    await client.query(
      `insert into notary.tiles (level, index, hashes, first_stream, first_revision) values ($1, $2, $3, $4, $5)
       on conflict (level, index) do update set hashes = tiles.hashes || excluded.hashes`,
      [level, index, Buffer.concat(part), place?.stream, place?.revision],
    )
    done += part.length
  }
}

/** Reads the beginning of a tile, as long as it was asked for. @throws Error when the tree does not reach so far */
export const tileReader =
  (db: Pool): ReadTile =>
  async ({ level, index, width }) => {
    const { rows } = await db.query<{ hashes: Buffer }>({
      name: 'notary-tile',
      text: 'select substr(hashes, 1, $3) as hashes from notary.tiles where level = $1 and index = $2',
      values: [level, index, width * hashBytes],
    })
    const hashes = rows[0]?.hashes
    if (hashes?.length !== width * hashBytes) throw new Error(`tile ${level}/${index} is not complete`)
    return hashes
  }

/** @returns the event of the first leaf of a tile; undefined when there is no such tile */
export async function firstEventOfTile(db: Pool, index: number): Promise<Omit<EventPlace, 'id'> | undefined> {
  const { rows } = await db.query<{ first_stream: string; first_revision: string }>({
    name: 'notary-first-of-tile',
    text: 'select first_stream, first_revision from notary.tiles where level = 0 and index = $1',
    values: [index],
  })
  const [row] = rows
  return row && { stream: row.first_stream, revision: Number(row.first_revision) }
}

/** More than the tiles of one page of proofs; a proof has about three. */
const most = 64

/** Reads each tile once, and keeps the last ones. */
export function tilesKeptInMemory(read: ReadTile): ReadTile {
  const kept = new Map<string, Promise<Uint8Array>>()
  return (tile) => {
    const path = tilePath(tile)
    const reading = kept.get(path) ?? read(tile)
    // The last one that was used stands at the end.
    kept.delete(path)
    kept.set(path, reading)
    const [oldest] = kept.keys()
    if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    return reading
  }
}
