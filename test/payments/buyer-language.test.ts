/** A buyer's language is the one of the payment page, or the one that the purchase link found in their browser. */
import { expect, test } from 'vitest'
import { translateStripe } from '../../src/payments/stripe/notification.ts'

const languageIn = (session: object): unknown => {
  const object = {
    id: 'cs_1',
    payment_status: 'paid',
    amount_total: 100,
    currency: 'eur',
    customer_details: { email: 'ada@example.com' },
    metadata: null,
    ...session,
  }
  const event = {
    id: 'evt_1',
    type: 'checkout.session.completed',
    livemode: true,
    created: 1,
    data: { object },
  }
  const translated = translateStripe(JSON.stringify(event))?.translated
  return translated?.type === 'sold' ? translated.customer : undefined
}

test.each([
  [{ locale: 'de-AT' }, 'de-AT'],
  [{ locale: 'pt-br' }, 'pt-BR'],
  [{ locale: 'fr' }, 'fr'],
  [{ locale: 'auto', metadata: { language: 'de' } }, 'de'],
  [{ locale: 'en', metadata: { language: 'de' } }, 'en'],
])('%j is a buyer who reads %s', (session, language) =>
  expect(languageIn(session)).toStrictEqual({ email: 'ada@example.com', language }),
)

test.each([{ locale: 'auto' }, { locale: 'xx' }, { locale: null }, { metadata: { language: 'xx' } }])(
  '%j says nothing of a language that mails are written in',
  (session) => expect(languageIn(session)).toStrictEqual({ email: 'ada@example.com' }),
)
