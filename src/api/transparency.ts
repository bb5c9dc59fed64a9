import { z } from 'zod'
import { noSuchPath, notFound, Problem } from '../http/problem.ts'
import { answer, errorBody, errorsWith, numberIn } from '../http/schemas.ts'
import type { ZodApp } from '../http/validation.ts'
import { refuseAllButGet } from '../http/wrong-method.ts'
import { readCheckpoint } from '../notary/checkpoints.ts'
import { proveConsistency, readPublishedTile } from '../notary/published-tree.ts'
import { readNotaryLog } from '../notary/signing-log.ts'
import { withCosignatures } from '../notary/witnesses.ts'
import type { Ports } from '../ports.ts'
import { parseTilePath } from '../transparency/tree/tiles.ts'

const base = '/v1/transparency'

/** Nothing here belongs to a tenant, and none of it needs a token. */
const open = { config: { document: true, anyOrigin: true } } as const
const common = { tags: ['Transparency'], security: [] }

/** What anyone may read of the tree over the log: C2SP tlog-tiles, and proofs for those who do not read tiles. */
export function transparencyRoutes(app: ZodApp, ports: Ports<'db' | 'ledger'>): void {
  checkpointRoute(app, ports)
  tileRoute(app, ports)
  consistencyRoute(app, ports)
  logRoute(app, ports)
}

const noCheckpoint = () => notFound('no event is signed yet: a checkpoint was')

function checkpointRoute(app: ZodApp, { db }: Ports<'db'>): void {
  const path = `${base}/checkpoint`
  refuseAllButGet(app, path)
  app.get(
    path,
    {
      ...open,
      schema: {
        ...common,
        operationId: 'getCheckpoint',
        summary: 'Read the last signed checkpoint of the log',
        description:
          'A signed note with the name of the log, the number of its events and the root hash: C2SP tlog-checkpoint. Keep one, and ' +
          '`/v1/transparency/consistency` proves later that nothing before it was changed.',
        response: { 200: plainText('The signed note'), ...errorsWith(errorBody, 404) },
      },
    },
    async (_request, reply) => {
      const checkpoint = await readCheckpoint(db)
      if (!checkpoint) throw noCheckpoint()
      return reply.type('text/plain; charset=utf-8').send(await withCosignatures(db, checkpoint))
    },
  )
}

/**
 * Tiles of hashes, up to 256 of 32 bytes each: C2SP tlog-tiles. A tile never changes. Tiles of entries are not served, because the
 * events of all tenants stand side by side in them. OpenAPI cannot describe such a path.
 */
function tileRoute(app: ZodApp, { db }: Ports<'db'>): void {
  const path = `${base}/tile/*`
  refuseAllButGet(app, path)
  app.get(
    path,
    { ...open, schema: { hide: true, params: z.object({ '*': z.string() }) } },
    async (request, reply) => {
      const tile = parseTilePath(`tile/${request.params['*']}`)
      const hashes = tile && (await readPublishedTile(db, tile))
      if (!hashes) throw noSuchPath()
      return reply
        .type('application/octet-stream')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(Buffer.from(hashes))
    },
  )
}

const leaves = numberIn(1, Number.MAX_SAFE_INTEGER)

function consistencyRoute(app: ZodApp, { db }: Ports<'db'>): void {
  const path = `${base}/consistency`
  refuseAllButGet(app, path)
  app.get(
    path,
    {
      ...open,
      schema: {
        ...common,
        operationId: 'proveConsistency',
        summary: 'Prove that one state of the log continues an earlier one',
        description:
          'Keep a checkpoint, and ask later with its number of events and that of the new one: the hashes prove that nothing before it ' +
          'was changed or removed. `keyledger verify` checks them.',
        querystring: z.strictObject({
          from: leaves.meta({ description: 'The number of events of the earlier checkpoint' }),
          to: leaves.meta({ description: 'The number of events of the later one' }),
        }),
        response: {
          200: answer(
            'The proof',
            z.object({
              from: z
                .int()
                .meta({ description: 'The number of events of the earlier checkpoint', example: 4711 }),
              to: z.int().meta({ description: 'The number of events of the later one', example: 4712 }),
              proof: z.array(z.string()).meta({
                description: 'Hashes in base64: RFC 6962, section 2.1.2',
                example: ['47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
              }),
            }),
          ),
          ...errorsWith(errorBody, 400, 404),
        },
      },
    },
    async ({ query: { from, to } }) => {
      const checkpoint = await readCheckpoint(db)
      if (!checkpoint) throw noCheckpoint()
      if (from > to || to > checkpoint.size)
        throw new Problem(
          400,
          'invalid_request',
          `from must be at most to, and to at most ${String(checkpoint.size)}, the size of the last checkpoint`,
        )
      const proof = await proveConsistency(db, from, to)
      return { from, to, proof: proof.map((hash) => Buffer.from(hash).toString('base64')) }
    },
  )
}

const key = z
  .string()
  .meta({ description: 'C2SP signed-note calls it vkey', example: 'licenses.acme.example+530d903a+A…' })

function logRoute(app: ZodApp, ports: Ports<'ledger'>): void {
  const path = `${base}/log`
  refuseAllButGet(app, path)
  app.get(
    path,
    {
      ...open,
      schema: {
        ...common,
        operationId: 'getLog',
        summary: 'Read the name and the public keys of the log',
        description:
          'Write the keys down elsewhere: who controls this server could answer with others. `predecessors` are logs that are not ' +
          'continued, the newest first, each with its last known checkpoint.',
        response: {
          200: answer(
            'The log',
            z.object({
              origin: z
                .string()
                .meta({ description: 'The name of the log', example: 'licenses.acme.example' }),
              keys: z.array(key).meta({ description: 'Its public keys. Each signs every checkpoint' }),
              predecessors: z
                .array(
                  z.object({
                    origin: z
                      .string()
                      .meta({ description: 'The name of that log', example: 'old.acme.example' }),
                    checkpoint: z
                      .string()
                      .nullable()
                      .meta({ description: 'Its last known checkpoint; null if it signed none' }),
                  }),
                )
                .meta({ description: 'Logs that are not continued, newest first', example: [] }),
            }),
          ),
          ...errorsWith(errorBody, 404),
        },
      },
    },
    async () => {
      const { origin, keys, predecessors } = await readNotaryLog(ports)
      if (origin === undefined) throw noCheckpoint()
      return { origin, keys: [...keys], predecessors: [...predecessors] }
    },
  )
}

const plainText = (description: string) => ({
  description,
  content: { 'text/plain': { schema: z.string() } },
})
