import { z } from 'zod'

/** What the operator's process is asked, and what it answers with; each a line of JSON. */
export const operatorCommands = {
  /** Makes the tenants, their tokens and products, and the webhook of the first one. */
  setUp: {
    input: z.object({ receiver: z.string() }),
    output: z.object({ tokens: z.record(z.string(), z.string()), secret: z.string() }),
  },
  approve: { input: z.object({ confirmationId: z.string() }), output: z.null() },
  setWebhook: { input: z.object({ tenantId: z.string(), url: z.string() }), output: z.null() },
  removeWebhook: { input: z.object({ tenantId: z.string() }), output: z.null() },
  /** What is not carried to its end; deliveries that wait for their next try are asked for at once. */
  hurry: {
    input: z.object({}),
    output: z.object({ openSales: z.int(), owed: z.int(), pending: z.int(), unexecuted: z.int() }),
  },
  /** Writes the log to a file, a line of JSON an event. */
  readLog: { input: z.object({ file: z.string() }), output: z.null() },
} as const

export type OperatorCommand = keyof typeof operatorCommands
export type Input<C extends OperatorCommand> = z.infer<(typeof operatorCommands)[C]['input']>
export type Output<C extends OperatorCommand> = z.infer<(typeof operatorCommands)[C]['output']>

/** The tenant that sells, and whose webhook stays. */
export const seller = 'acme'
/** The one whose webhook comes and goes. */
export const changer = 'brief'
export const productId = 'editor'
export const account = 'acct_seller'
export const deviceLimit = 2

/** An event as it is written for the checks. */
export const LogLine = z.object({
  id: z.string(),
  stream: z.string(),
  revision: z.int(),
  position: z.string(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  /** What webhooks call it; null when they are not told of it. */
  publicName: z.string().nullable(),
})
export type LogLine = z.infer<typeof LogLine>
