import { unixSeconds } from '../domain/licenses/expiry.ts'
import type { WebhookEventName } from '../domain/webhooks/events.ts'
import { type Payload, payloadVersion } from './payloads.ts'

const device = { device_id: 'machine-7f3a', instance_id: 'ins_test', device_name: 'MacBook' }
const meter = { meter: 'api-calls', unit: 'calls', customer_id: null }
const yearSeconds = 31_536_000
const termsUntil = (end: number) => ({ quantity: 1, device_limit: 5, expires_at: end })

/**
 * The payload of a test event: as a real one of that kind, with made-up values, `test: true`, and ids that begin with
 * `test_` or end with `_test`.
 */
export function samplePayload(
  event: WebhookEventName,
  { id, tenantId, at }: { id: string; tenantId: string; at: string },
): Payload {
  const created = unixSeconds(at)
  return {
    id,
    created,
    version: payloadVersion,
    event,
    tenant_id: tenantId,
    license_id: 'lic_test',
    product_id: 'editor',
    key_type_id: 'pro',
    customer_email: 'ada@example.com',
    test: true,
    sequence: 1,
    ...particulars(event, created),
  }
}

const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

function particulars(event: WebhookEventName, created: number): Partial<Payload> {
  switch (event) {
    case 'license.created':
      return { key: 'TEST-00000-00000-00000-00000-00000-0', session_id: 'cs_test_a1b2c3' }
    case 'license.activated':
    case 'license.deactivated':
      return device
    case 'license.renewed':
      return { expires_at: created + yearSeconds }
    case 'license.expiring':
      return { expires_at: created + 14 * 86_400, days_before: 14 }
    case 'license.renewal_failed': {
      const payment = { sale_id: 'cs_test', payment_id: 'in_test' }
      return { ...payment, attempt: 1, next_attempt_at: created + 3 * 86_400 }
    }
    case 'license.relay_forked':
      return { relay_id: 'rel_test', relay_name: 'Render farm' }
    case 'license.seats_exhausted':
      return { seats: 10, waiting: 2 }
    case 'license.seat_assigned':
      return { person_id: 'per_test' }
    case 'license.seat_unassigned':
      return { person_id: 'per_test', waits_until: created + 30 * 86_400 }
    case 'license.shared':
      return { rule: 'networks', count: 5, limit: 3, day: dayOf(created), suspended: false }
    case 'license.sharing_allowed':
      return { allowed: true }
    case 'usage.threshold': {
      const period = { period_starts_at: created - 20 * 86_400, resets_at: created + 10 * 86_400 }
      return { ...meter, ...period, percent: 80, used: '8000', remaining: '2000', overage: '0' }
    }
    case 'usage.period_closed': {
      const period = { period_starts_at: created - 37 * 86_400, period_ended_at: created - 7 * 86_400 }
      const from = { from_rolled_over: '0', from_included: '10000', from_credits: '300' }
      return { ...meter, ...period, used: '10500', ...from, overage: '200' }
    }
    case 'license.updated':
      return termsUntil(created + yearSeconds)
    case 'license.issued':
      return { source: 'api', ...termsUntil(created + yearSeconds) }
    case 'license.linked':
    case 'license.unlinked':
      return { customer_id: 'cus_test' }
    case 'license.refunded':
      return { sale_id: 'pi_test', amount: 4900, total_refunded: 4900, currency: 'usd' }
    case 'license.updates_extended':
      return { updates_until: created + yearSeconds }
    case 'license.reinstated':
      return { sale_id: 'pi_test' }
    case 'license.expired':
    case 'license.suspended':
    case 'license.resumed':
    case 'license.revoked':
    case 'license.reminted':
    case 'license.holder_erased':
    case 'license.revocation_undone':
      return {}
  }
}
