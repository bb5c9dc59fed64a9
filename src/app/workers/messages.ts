import { z } from 'zod'

/** A position in the log. Messages between processes are JSON, which has no bigints. */
const position = z.string().regex(/^\d+$/).transform(BigInt)

const measuredValue = z.looseObject({
  // NaN, for example of a lag that was not sampled yet. It arrives from another process as null.
  value: z
    .union([z.number(), z.nan(), z.null()])
    .transform((value) => (value === null || Number.isNaN(value) ? 0 : value)),
  labels: z.record(z.string(), z.union([z.string(), z.number()])),
  metricName: z.string().optional(),
})

/** The metrics of a process, as prom-client serializes them. */
export const Measured = z.array(
  z.looseObject({
    name: z.string(),
    type: z.string(),
    aggregator: z.string(),
    values: z.array(measuredValue),
  }),
)
export type Measured = z.infer<typeof Measured>

/** Messages from a worker to its parent. */
export const FromWorker = z.discriminatedUnion('kind', [
  /** The worker takes connections. */
  z.object({ kind: z.literal('serving') }),
  /** The worker cannot serve; the message is for the person who started keyledger. */
  z.object({ kind: z.literal('refused'), message: z.string() }),
  /** A request to advance the read models to this position. */
  z.object({ kind: z.literal('advance'), position }),
  z.object({ kind: z.literal('measured'), id: z.int(), metrics: Measured }),
  /** A request for the metrics of all processes. */
  z.object({ kind: z.literal('read-metrics'), id: z.int() }),
])

/** What a worker needs before it can serve. It reads everything else from the environment, as its parent does. */
export const Start = z.object({
  kind: z.literal('start'),
  workers: z.int(),
  /** The version of the read models that the parent advances. */
  fingerprint: z.string(),
  /** The actual port, also when any free port was configured. */
  port: z.int(),
  databaseUrl: z.string(),
  eventstoreUrl: z.string(),
})
export type Start = z.infer<typeof Start>

/** How many workers run, and which have died. */
export const WorkersStatus = z.object({
  wanted: z.int(),
  serving: z.int(),
  /** Since the start of the server. */
  deaths: z.int(),
  lastDeath: z.object({ at: z.iso.datetime(), how: z.string() }).optional(),
})
export type WorkersStatus = z.infer<typeof WorkersStatus>

/** Messages from the parent to a worker. */
export const ToWorker = z.discriminatedUnion('kind', [
  Start,
  /** A new connection, which is sent along. */
  z.object({ kind: z.literal('connection') }),
  z.object({ kind: z.literal('status'), status: WorkersStatus }),
  /** The read models have reached this position. */
  z.object({ kind: z.literal('advanced'), position }),
  z.object({ kind: z.literal('measure'), id: z.int() }),
  z.object({ kind: z.literal('metrics'), id: z.int(), text: z.string() }),
  /** Another worker takes over: end as soon as no client is connected. */
  z.object({ kind: z.literal('drain') }),
  /** Finish the running requests and end. */
  z.object({ kind: z.literal('stop') }),
])

export type FromWorker = z.input<typeof FromWorker>
export type ToWorker = z.input<typeof ToWorker>
