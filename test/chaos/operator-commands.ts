import { z } from 'zod'

/** The commands of the operator's process, with input and output; each message is a line of JSON. */
export const operatorCommands = {
  /** Creates the tenants, their tokens and products, and the webhook of the first one. */
  setUp: {
    input: z.object({ receiver: z.string() }),
    output: z.object({ tokens: z.record(z.string(), z.string()), secret: z.string() }),
  },
  approve: { input: z.object({ confirmationId: z.string() }), output: z.null() },
  setWebhook: { input: z.object({ tenantId: z.string(), url: z.string() }), output: z.null() },
  removeWebhook: { input: z.object({ tenantId: z.string() }), output: z.null() },
  /** Counts unfinished work; deliveries that wait for a retry become due at once. */
  hurry: {
    input: z.object({}),
    output: z.object({ openSales: z.int(), owed: z.int(), pending: z.int(), unexecuted: z.int() }),
  },
  /** Writes the log to a file, one line of JSON per event. */
  readLog: { input: z.object({ file: z.string() }), output: z.null() },
} as const

export type OperatorCommand = keyof typeof operatorCommands
export type Input<C extends OperatorCommand> = z.infer<(typeof operatorCommands)[C]['input']>
export type Output<C extends OperatorCommand> = z.infer<(typeof operatorCommands)[C]['output']>

/** The tenant that sells and has a permanent webhook. */
export const seller = 'acme'
/** The tenant whose webhook is set and removed. */
export const changer = 'brief'
export const productId = 'editor'
export const account = 'acct_seller'
export const deviceLimit = 2

/** An event as written for the checks. */
export const LogLine = z.object({
  id: z.string(),
  stream: z.string(),
  revision: z.int(),
  position: z.string(),
  type: z.string(),
  /** The request that led to it. */
  requestId: z.string(),
  data: z.record(z.string(), z.unknown()),
  /** Its name in webhooks; null when it is not sent. */
  publicName: z.string().nullable(),
})
export type LogLine = z.infer<typeof LogLine>
