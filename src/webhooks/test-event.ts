import { webhookSecretName } from '../commands/webhooks.ts'
import { secretsOf, type WebhookEndpoint } from '../domain/webhooks/endpoint.ts'
import type { WebhookEventName } from '../domain/webhooks/events.ts'
import type { Ports } from '../ports.ts'
import { createConnections, post } from './post.ts'
import { samplePayload } from './sample-payloads.ts'
import type { Resolve, TargetRules } from './targets.ts'
import type { SendTestEvent } from './test-answer.ts'
import { signedPost } from './webhook-channel.ts'

/** The header that marks a test event; a delivery has none. */
const testHeader = 'x-service-test'

export type TestSender = { send: SendTestEvent; close(): Promise<void> }

/** Connections obey the same rules as those of deliveries. */
export function createTestSender(
  ports: Ports<'newId' | 'now' | 'secrets'>,
  { resolve, rules, timeLimitMs = 15_000 }: { resolve: Resolve; rules: TargetRules; timeLimitMs?: number },
): TestSender {
  const connections = createConnections(resolve, rules)

  async function send(tenantId: string, endpoint: WebhookEndpoint, event: WebhookEventName) {
    const now = ports.now()
    const at = now.toISOString()
    const id = ports.newId('whd').replace('_', '_test_')
    const secrets = await Promise.all(
      secretsOf(endpoint, at).map(({ operationId }) =>
        ports.secrets.open(tenantId, webhookSecretName(operationId)),
      ),
    )
    const known = secrets.filter((secret) => secret !== undefined)
    const request = signedPost(endpoint.url, known, samplePayload(event, { id, tenantId, at }), now)
    const started = performance.now()
    const result = await post(
      connections,
      rules,
      { ...request, headers: { ...request.headers, [testHeader]: 'true' } },
      { timeLimitMs, confidential: [] },
    )
    const durationMs = Math.round(performance.now() - started)
    if (result.outcome === 'unwanted') throw new Error('a request is never unwanted')
    const { status, excerpt } = result
    const error = result.outcome === 'failed' ? result.error : null
    return { id, event, ok: error === null, status, error, durationMs, excerpt }
  }

  return { send, close: () => connections.destroy() }
}
