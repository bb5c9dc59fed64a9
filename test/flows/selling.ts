import { expect } from 'vitest'
import { z } from 'zod'
import type { Environment, Host, Server } from '../harness/process.ts'
import { goodKey, type ProviderStandIns, platformKey } from '../harness/providers.ts'

/** The settings of a server that calls the stand-ins instead of the providers. */
export const askingStandIns = ({ settings: { apiUrls } }: ProviderStandIns): Environment => ({
  KEYLEDGER_STRIPE_SECRET_KEY: platformKey,
  KEYLEDGER_STRIPE_API_URL: apiUrls.stripe,
  KEYLEDGER_LEMONSQUEEZY_API_URL: apiUrls.lemonsqueezy,
  KEYLEDGER_PADDLE_API_URL: apiUrls.paddle,
  KEYLEDGER_POLAR_API_URL: apiUrls.polar,
})

const Pending = z.object({ confirmation: z.object({ id: z.string() }) })
const PingUrl = z.object({ pingUrl: z.string() })
const Url = z.object({ url: z.string() })

/**
 * Connects every provider, rotates secrets with and without an approval, sells in test mode and runs a test
 * purchase.
 * @returns every secret that was sent or returned, by its name
 */
export async function sellThroughAll(
  host: Host,
  environment: Environment,
  { address }: Server,
  token: string,
  productId: string,
): Promise<Map<string, string>> {
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(address + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const sent = new Map<string, string>([
    [platformKey, "the platform's key"],
    [goodKey, 'an API key'],
  ])
  const webhookSecret = (what: string) => {
    const secret = `whsec_canary_${what}_4c1d9e`
    sent.set(secret, `the webhook secret ${what}`)
    return secret
  }
  const tokenOf = (body: unknown, what: string) =>
    sent.set(new URL(PingUrl.parse(body).pingUrl).searchParams.get('token') ?? '', `the ping token ${what}`)

  for (const provider of ['lemonsqueezy', 'paddle', 'polar']) {
    const connection = { webhookSecret: webhookSecret(provider), apiKey: goodKey }
    const path = `/v1/integrations/${provider}/connect`
    expect(await send('POST', path, { ...connection, apiKey: 'key_canary_refused_c0' })).toMatchObject({
      status: 422,
    })
    expect(await send('POST', path, connection)).toMatchObject({ status: 200 })
    expect(await send('POST', path, connection)).toMatchObject({ status: 409 })
  }
  sent.set('key_canary_refused_c0', 'an API key that was refused')
  tokenOf((await send('POST', '/v1/integrations/gumroad/connect')).body, 'one')

  const rotate = (provider: string, body?: unknown, headers?: Record<string, string>) =>
    send('POST', `/v1/integrations/${provider}/rotate-secret`, body, headers)
  const approved = async (provider: string, body?: unknown) => {
    const { id } = Pending.parse((await rotate(provider, body)).body).confirmation
    expect(await host.run(['confirmations', 'approve', id], environment)).toMatchObject({ code: 0 })
    const answer = await rotate(provider, body, { 'x-service-confirmation': id })
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }
  tokenOf(await approved('gumroad'), 'two')
  await approved('paddle', { webhookSecret: webhookSecret('rotated') })
  expect(await rotate('polar', { webhookSecret: webhookSecret('pending') })).toMatchObject({ status: 202 })

  const { url } = Url.parse((await send('POST', '/v1/integrations/stripe/connect')).body)
  sent.set(new URL(url).pathname, "the onboarding's address")
  const secretKey = 'sk_test_canary_of_the_product_88b'
  sent.set(secretKey, 'a test key')
  const testMode = `/v1/products/${productId}/test-mode`
  expect(await send('POST', testMode, { publishableKey: 'pk_test_1', secretKey })).toMatchObject({
    status: 200,
  })
  expect(await send('POST', testMode, { publishableKey: secretKey, secretKey })).toMatchObject({
    status: 422,
  })
  expect(await send('POST', '/v1/test-purchase', { productId })).toMatchObject({ status: 202 })
  expect(await send('DELETE', '/v1/integrations/lemonsqueezy')).toMatchObject({ status: 200 })
  return sent
}
