import { ProviderRefused } from '../payments/errors.ts'
import type { CardAccess } from '../payments/stripe/api.ts'
import { isNamed, withLineItems } from '../payments/stripe/line-items.ts'
import type { StripeNotification } from '../payments/stripe/notification.ts'
import type { Translated } from '../payments/translated.ts'
import type { Ports } from '../ports.ts'
import { saleOfLink } from './links.ts'

/**
 * Reads what was bought in a session of stripe. Nothing of the sale is recorded before: when stripe does not answer, or the
 * process is killed, the notification is not acknowledged, and stripe sends it again.
 * @param access undefined when there is no key to read with; the sale is then what the notification says
 * @throws ProviderUnavailable; ProviderRefused when the notification does not say what was sold
 */
export async function withSessionItems(
  ports: Ports<'ledger' | 'providers'>,
  tenantId: string,
  access: CardAccess | undefined,
  { sessionToRead: session, translated }: Pick<StripeNotification, 'sessionToRead' | 'translated'>,
): Promise<Translated> {
  if (!access || session === undefined || translated.type !== 'sold') return translated
  const place = { tenantId, provider: 'stripe', link: `sale:${session}` } as const
  // The items of a sale that is known are recorded.
  if ((await saleOfLink(ports, place)) !== null) return translated
  try {
    return withLineItems(translated, await ports.providers.card.readLineItems(access, session))
  } catch (error) {
    if (!(error instanceof ProviderRefused)) throw error
    // A live key does not find a session of test mode, now or later.
    const isElsewhere = error.reason === 'missing' && translated.test
    // A buyer whose license is known gets it, although the key may not read whether there is more.
    if (isElsewhere || isNamed(translated)) return translated
    throw error
  }
}
