/** The license that bought credits are for is read from the custom data of each provider's checkout, and nothing else of it. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Provider } from '../../src/domain/integrations/provider.ts'
import { translatePing } from '../../src/payments/gumroad/notification.ts'
import { translateLemonSqueezy } from '../../src/payments/lemonsqueezy/notification.ts'
import { translatePaddle } from '../../src/payments/paddle/notification.ts'
import { translatePolar } from '../../src/payments/polar/notification.ts'
import { translateStripe } from '../../src/payments/stripe/notification.ts'
import { goldenOf } from './golden.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const Body = z.looseObject({})

function goldenBody(provider: Provider, wanted: string) {
  const raw = goldenOf(provider).find(({ name }) => name === wanted)?.raw ?? ''
  return Body.parse(JSON.parse(raw))
}

/** What is told, with more fields at a path. */
function withMore(body: unknown, [field, ...path]: readonly string[], more: object): object {
  const whole = Body.parse(body)
  return field === undefined
    ? { ...whole, ...more }
    : { ...whole, [field]: withMore(whole[field], path, more) }
}

/** A notification of a sale, whose part at a path has more fields. */
const told = (provider: Provider, name: string, path: readonly string[], more: object): string =>
  JSON.stringify(withMore(goldenBody(provider, name), path, more))

const translated: Record<Provider, (custom: object) => unknown> = {
  stripe: (custom) =>
    translateStripe(told('stripe', 'session-completed', ['data', 'object'], { metadata: custom }))
      ?.translated,
  gumroad: (custom) => {
    const raw = goldenOf('gumroad').find(({ name }) => name === 'ping-sale')?.raw ?? ''
    const form = new URLSearchParams(raw)
    for (const [name, value] of Object.entries(custom)) form.set(`url_params[${name}]`, String(value))
    return translatePing(form.toString(), now)
  },
  lemonsqueezy: (custom) =>
    translateLemonSqueezy(
      told('lemonsqueezy', 'order-created', ['meta'], { custom_data: custom }),
      undefined,
    ),
  paddle: (custom) =>
    translatePaddle(told('paddle', 'transaction-completed', ['data'], { custom_data: custom }), {
      ...{ test: false, isMapped: () => true, readCustomer: undefined },
    }),
  polar: (custom) =>
    translatePolar(told('polar', 'order-paid-purchase', ['data'], { metadata: custom }), 'msg_1', false, now),
}

const licenseId = 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc'

test.each(Object.entries(translated))('%s names it', async (_, translate) => {
  expect(await translate({ license_id: licenseId })).toMatchObject({ type: 'sold', licenseId })
})

test.each(Object.entries(translated))('%s with something else names none', async (_, translate) => {
  for (const custom of [{ license_id: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc' }, { license_id: '' }, { other: 'x' }])
    expect(await translate(custom)).not.toHaveProperty('licenseId')
})
