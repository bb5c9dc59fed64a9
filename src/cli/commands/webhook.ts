import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { z } from 'zod'
import { findTenant } from '../../../projections/tenants.ts'
import { withStores } from '../../app/with-stores.ts'
import { http } from '../../bare-http/node-http.ts'
import { removeWebhook, revealWebhookSecret, setWebhook } from '../../commands/webhooks.ts'
import { Refusal } from '../../domain/refusal.ts'
import { WebhookEventName } from '../../domain/webhooks/events.ts'
import { setWebhook as settings } from '../../gate/operations/set-webhook.ts'
import { wholeNumberOf } from '../../numbers.ts'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { inJson, type OutputOptions, print, printToStderr } from '../../terminal/output.ts'
import { isVerified, type Verdict, verifyDelivery } from '../../webhooks/signature.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'
import { readSecret, type SecretOptions, secretOption } from '../secret-option.ts'

type SetOptions = OutputOptions & { tenant: string; events?: string; rotateSecret?: boolean }

/** `keyledger webhook …` for operators, and `keyledger webhooks …` for developers of a receiver. */
export function webhookCommands(program: Command): void {
  const webhook = topCommand(program, 'webhook')

  webhook
    .command('set <url>')
    .description('Send license events to a URL')
    .requiredOption('--tenant <id>')
    .option('--events <list>', `comma-separated, of ${WebhookEventName.options.join(', ')}`)
    .option('--rotate-secret', 'create a new signing secret; the old one stays valid for 24 hours')
    .option('--json', 'print {url, secret}')
    .action(set)

  webhook
    .command('remove')
    .description('Remove the webhook and destroy its signing secret')
    .requiredOption('--tenant <id>')
    .action((options: { tenant: string }) =>
      withStores(async ({ ports }, origin) => {
        if (!(await findTenant(ports.db, options.tenant))) throw new Refusal('tenant_not_found')
        await removeWebhook(ports, options.tenant, origin.requestId, origin)
      }),
    )

  const webhooks = topCommand(program, 'webhooks')

  const listening = webhooks
    .command('listen')
    .description('Receive deliveries on this machine, verify their signatures and print them')
  secretOption(listening)
    .option('--port <number>', 'where to listen on 127.0.0.1', '4242')
    .option('--json', 'print one JSON value per line')
    .action(listen)

  const verifying = webhooks
    .command('verify')
    .description('Verify the signatures of one delivery; reads its body from stdin')
  secretOption(verifying)
    .option('--signature <text>', 'the header X-Service-Signature')
    .option('--id <text>', 'the header webhook-id')
    .option('--timestamp <seconds>', 'the header webhook-timestamp')
    .option('--standard-signature <text>', 'the header webhook-signature')
    .option('--at <moment>', 'when it arrived, in ISO 8601; defaults to now')
    .option('--json', 'print {verified, own, standard}')
    .action(verify)
}

async function set(url: string, options: SetOptions): Promise<void> {
  const { tenant: tenantId, rotateSecret = false } = options
  const events =
    options.events === undefined
      ? undefined
      : parsed(z.array(WebhookEventName).min(1), options.events.split(','), '--events')
  await withStores(async ({ ports }, origin) => {
    if (!(await findTenant(ports.db, tenantId))) throw new Refusal('tenant_not_found')
    const body = { url, ...(events && { events }), rotateSecret }
    parsed(settings.parts.body ?? z.unknown(), body, 'The webhook')
    await settings.check(ports, tenantId, { parameters: {}, query: {}, body })
    const chosen = { url, events, rotateSecret }
    const { secret } = await setWebhook(ports, tenantId, chosen, origin.requestId, origin)
    const shown = { url, secret: secret ?? (await revealWebhookSecret(ports, tenantId)) }
    print(options, shown, () => [`License events are sent to ${url}, signed with ${shown.secret}`])
  })
}

type ListenOptions = OutputOptions & SecretOptions & { port: string }

async function listen({ port, json, ...options }: ListenOptions): Promise<void> {
  const { secret } = await readSecret(options)
  const number = wholeNumberOf('--port', port, 0, 65_535)
  const server = http.createServer((request, response) => {
    void text(request).then(
      (body) => {
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        )
        const verdict = verifyDelivery(secret, { headers, body }, new Date())
        response.writeHead(isVerified(verdict) ? 204 : 400).end()
        print({ json: false }, undefined, () =>
          json ? [lineOf(verdict, body)] : verdictLines(verdict, body),
        )
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', (error) =>
      reject(new CommandRefused(`Cannot listen on port ${number}: ${error.message}`)),
    )
    server.listen(number, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  const listening = `http://127.0.0.1:${typeof address === 'object' ? address?.port : number}`
  printToStderr(`Listening on ${listening}. Press Ctrl-C to stop.`)
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
  })
  server.closeAllConnections()
  server.close()
}

const lineOf = (verdict: Verdict, body: string): string =>
  inJson({ verified: isVerified(verdict), ...verdict, payload: jsonIn(body) })

function verdictLines(verdict: Verdict, body: string): string[] {
  const payload = jsonIn(body)
  const shown = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)
  return [`${isVerified(verdict) ? 'verified' : 'NOT VERIFIED'} (${inWords(verdict)})`, ...shown.split('\n')]
}

function inWords({ own, standard }: Verdict): string {
  const word = (verdict: boolean | undefined) =>
    verdict === undefined ? 'is missing' : verdict ? 'is valid' : 'is invalid'
  return `X-Service-Signature ${word(own)}, webhook-signature ${word(standard)}`
}

/** The body as text when it is not JSON. */
function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return body
  }
}

type VerifyOptions = OutputOptions &
  SecretOptions & {
    signature?: string
    id?: string
    timestamp?: string
    standardSignature?: string
    at?: string
  }

async function verify(options: VerifyOptions): Promise<void> {
  const headers = {
    'x-service-signature': options.signature,
    'webhook-id': options.id,
    'webhook-timestamp': options.timestamp,
    'webhook-signature': options.standardSignature,
  }
  const at = parsed(z.iso.datetime({ offset: true }).optional(), options.at, '--at')
  const now = at === undefined ? new Date() : new Date(at)
  const { secret, rest } = await readSecret(options)
  const verdict = verifyDelivery(secret, { headers, body: rest ?? (await text(process.stdin)) }, now)
  const verified = isVerified(verdict)
  if (!verified && !options.json) throw new CommandRefused(`Not verified: ${inWords(verdict)}`)
  print(options, { verified, ...verdict }, () => [`Verified: ${inWords(verdict)}`])
  if (!verified) process.exitCode = 1
}
