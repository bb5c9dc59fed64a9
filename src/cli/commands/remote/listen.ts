import type { Command } from 'commander'
import { z } from 'zod'
import { newId } from '../../../credentials/id.ts'
import { pathTo } from '../../../description/path.ts'
import { WebhookEventName } from '../../../domain/webhooks/events.ts'
import { CommandMisused, CommandRefused } from '../../../terminal/exit-codes.ts'
import { untilInterrupted } from '../../../terminal/interruption.ts'
import { asLine, fields, inJson, print, printToStderr } from '../../../terminal/output.ts'
import { samplePayload } from '../../../webhooks/sample-payloads.ts'
import { topCommand } from '../../context.ts'
import { openRemote, type RemoteOptions, sessionOptions } from '../../remote/build.ts'
import type { Client } from '../../remote/client.ts'
import { endOfFeed, type FeedStart, followFeed, licenseOfPurchase } from '../../remote/feed.ts'
import {
  type Forwarded,
  forward,
  forwardAddress,
  isDelivered,
  listenerSecret,
  noteListening,
  runningListener,
} from '../../remote/forward.ts'

/** `keyledger listen` and `keyledger trigger`: webhooks for a program on this machine. */
export function listenCommands(program: Command): void {
  sessionOptions(topCommand(program, 'listen'))
    .requiredOption('--forward-to <address>', 'such as localhost:3000/hooks')
    .option('--events <list>', 'comma-separated, such as license.created,license.revoked; all when absent')
    .option('--test-purchase <id>', 'only the events of this test purchase, from its first')
    .option('--json', 'print {event, licenseId, id, status, durationMs, error} on a line for each')
    .action(listen)

  sessionOptions(topCommand(program, 'trigger'))
    .option('--forward-to <address>', 'send it there instead, also while `listen` does not run')
    .option('--endpoint <id>', 'let the server send it to this webhook endpoint instead')
    .option('--license <id>', 'with the values of this license instead of sample values')
    .option(
      '--json',
      'print {event, id, status, durationMs, error}; with --endpoint the answer of the server',
    )
    .action(trigger)
}

type ListenOptions = RemoteOptions & { forwardTo: string; events?: string; testPurchase?: string }

async function listen(options: ListenOptions): Promise<void> {
  const address = forwardAddress(options.forwardTo)
  const wanted = options.events === undefined ? undefined : options.events.split(',').map(eventNamed)
  const { client, session } = openRemote(options)
  const secret = listenerSecret(session)
  const interruption = untilInterrupted()
  const { signal } = interruption
  try {
    const start = await startOf(client, options.testPurchase, signal)
    if (!start) return
    noteListening(session, address)
    printToStderr(
      [
        `Forwarding ${wanted?.join(', ') ?? 'all events'} to ${address}. Press Ctrl-C to stop.`,
        `They are signed with this secret, which stays the same on this machine: ${secret}`,
        'Keys in them are masked.',
      ].join('\n'),
    )
    for await (const payload of followFeed(client, start, signal)) {
      if (wanted && !wanted.some((name) => name === payload.event)) continue
      show(payload, await forward(address, secret, payload), options)
      if (signal.aborted) break
    }
  } finally {
    noteListening(session, null)
    interruption.end()
  }
}

/** A test purchase from its first event, everything else from now on. @returns undefined when it was interrupted */
async function startOf(
  client: Client,
  testPurchase: string | undefined,
  signal: AbortSignal,
): Promise<FeedStart | undefined> {
  if (testPurchase === undefined) return endOfFeed(client)
  const licenseId = await licenseOfPurchase(client, testPurchase, signal)
  return licenseId === undefined ? undefined : { licenseId, after: null }
}

/** @throws CommandMisused for a name that is no event */
function eventNamed(name: string): WebhookEventName {
  const parsed = WebhookEventName.safeParse(name)
  if (parsed.success) return parsed.data
  throw new CommandMisused(`${name} is not an event. Events are ${WebhookEventName.options.join(', ')}.`)
}

type Sent = { id: string; event: string; license_id: string }

function show({ id, event, license_id: licenseId }: Sent, answer: Forwarded, { json }: RemoteOptions): void {
  const { status, durationMs, error, excerpt } = answer
  if (json) {
    process.stdout.write(`${inJson({ event, licenseId, id, status, durationMs, error })}\n`)
    return
  }
  const outcome = `${status ?? error} in ${durationMs} ms`
  const time = new Date().toISOString().slice(11, 19)
  const shownExcerpt = isDelivered(answer) || excerpt === '' ? '' : `  ${excerpt}`
  process.stdout.write(
    `${asLine([time, event.padEnd(19), licenseId, '→', outcome].join('  ') + shownExcerpt)}\n`,
  )
}

type TriggerOptions = RemoteOptions & { forwardTo?: string; endpoint?: string; license?: string }

async function trigger(name: string, options: TriggerOptions): Promise<void> {
  const event = eventNamed(name)
  if (options.endpoint !== undefined && (options.forwardTo !== undefined || options.license !== undefined)) {
    throw new CommandMisused('--endpoint cannot be combined with --forward-to or --license.')
  }
  const { client, session } = openRemote(options)
  if (options.endpoint !== undefined) return triggerAt(client, options.endpoint, event, options)
  const address =
    options.forwardTo === undefined ? runningListener(session) : forwardAddress(options.forwardTo)
  if (address === undefined) {
    throw new CommandRefused(
      'Nothing listens on this machine. Start it: keyledger listen --forward-to localhost:3000/hooks\n' +
        'Or name the target: --forward-to <address>, or --endpoint <id> of a webhook endpoint.',
    )
  }
  const payload = await testPayload(client, event, options.license)
  const answer = await forward(address, listenerSecret(session), payload, { isTest: true })
  show(payload, answer, options)
  if (!isDelivered(answer)) throw new CommandRefused(`${address} did not accept the event.`)
}

async function triggerAt(
  client: Client,
  endpoint: string,
  event: string,
  options: RemoteOptions,
): Promise<void> {
  const path = pathTo`/v1/webhook-endpoints/${endpoint}/test`
  // Each call sends an event.
  const call = { method: 'POST', path, body: { event }, repeatable: false } as const
  const { body } = await client.call(call)
  const { test } = z.object({ test: z.looseObject({ ok: z.boolean() }) }).parse(body)
  print(options, body, () => fields(test))
  if (!test.ok) throw new CommandRefused('The endpoint did not accept the event.')
}

const Identity = z.object({ tenantId: z.string() })
const Shown = z.object({
  license: z.object({
    id: z.string(),
    productId: z.string(),
    keyTypeId: z.string(),
    email: z.string().nullable(),
  }),
})

/** A made-up event, with the values of a license if one is named. It is marked as a test. */
async function testPayload(client: Client, event: WebhookEventName, licenseId: string | undefined) {
  const identity = await client.call({ method: 'GET', path: '/v1/tokens/verify' })
  const { tenantId } = Identity.parse(identity.body)
  const id = newId('whd').replace('_', '_test_')
  const sample = samplePayload(event, { id, tenantId, at: new Date().toISOString() })
  if (licenseId === undefined) return sample
  const { body } = await client.call({ method: 'GET', path: pathTo`/v1/licenses/${licenseId}` })
  const { license } = Shown.parse(body)
  return {
    ...sample,
    license_id: license.id,
    product_id: license.productId,
    key_type_id: license.keyTypeId,
    customer_email: license.email,
  }
}
