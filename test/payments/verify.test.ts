/** A provider's own signature is accepted; a changed byte, another secret and an old timestamp are not. */
import { createHmac } from 'node:crypto'
import { Stripe } from 'stripe'
import { describe, expect, test } from 'vitest'
import { verifyLemonSqueezy } from '../../src/payments/lemonsqueezy/notification.ts'
import { verifyPaddle } from '../../src/payments/paddle/notification.ts'
import { verifyPolar } from '../../src/payments/polar/notification.ts'
import { verifyStripe } from '../../src/payments/stripe/notification.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const seconds = now.getTime() / 1000
const secret = 'whsec_canary_1f0c'
const body = '{"id":"1","note":"é"}'

const mac = (text: string, encoding: 'hex' | 'base64', key = secret) =>
  createHmac('sha256', key).update(text).digest(encoding)

type Signed = {
  sign: (body: string, at: number, key: string) => string
  verify: (raw: Buffer, signed: string) => unknown
}

const schemes: Record<string, Signed & { dated: boolean }> = {
  stripe: {
    dated: true,
    sign: (payload, timestamp, key) =>
      Stripe.webhooks.generateTestHeaderString({ payload, timestamp, secret: key }),
    verify: (raw, signed) => verifyStripe(raw, signed, secret, now),
  },
  lemonsqueezy: {
    dated: false,
    sign: (payload, _at, key) => mac(payload, 'hex', key),
    verify: (raw, signed) => verifyLemonSqueezy(raw, signed, secret),
  },
  paddle: {
    dated: true,
    sign: (payload, at, key) => `ts=${at};h1=${mac(`${at}:${payload}`, 'hex', key)}`,
    verify: (raw, signed) => verifyPaddle(raw, signed, secret, now),
  },
  polar: {
    dated: true,
    sign: (payload, at, key) => `msg_1 ${at} v1,${mac(`msg_1.${at}.${payload}`, 'base64', key)}`,
    verify: (raw, signed) => {
      const [id = '', timestamp = '', ...signatures] = signed.split(' ')
      return verifyPolar(raw, { id, timestamp, signature: signatures.join(' ') }, secret, now)
    },
  },
}

describe.each(Object.entries(schemes))('%s', (_, { sign, verify, dated }) => {
  const raw = Buffer.from(body)

  test('accepts what is signed with the secret', async () => {
    expect(await verify(raw, sign(body, seconds, secret))).toBe(true)
  })

  test('refuses each changed byte of the body', async () => {
    const signed = sign(body, seconds, secret)
    for (let index = 0; index < raw.length; index++) {
      const changed = Buffer.from(raw)
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
      expect(await verify(changed, signed)).toBe(false)
    }
    expect(await verify(raw.subarray(1), signed)).toBe(false)
    expect(await verify(Buffer.concat([raw, Buffer.from(' ')]), signed)).toBe(false)
  })

  test('refuses each changed character of the signature', async () => {
    const signed = sign(body, seconds, secret)
    for (let index = 0; index < signed.length; index++) {
      const other = signed[index] === '0' ? '1' : '0'
      expect(await verify(raw, signed.slice(0, index) + other + signed.slice(index + 1))).toBe(false)
    }
  })

  test('refuses another secret, and what is no signature', async () => {
    expect(await verify(raw, sign(body, seconds, 'whsec_another'))).toBe(false)
    for (const nothing of [
      '',
      ' ',
      ',',
      '=',
      ';',
      't=,v1=',
      'ts=;h1=',
      'v1,',
      `t=${seconds}`,
      '\u0000',
      'é'.repeat(64),
    ]) {
      expect(await verify(raw, nothing)).toBe(false)
    }
  })

  test('goes by the time that is signed, if any: five minutes before and after', async () => {
    for (const away of [-301, 301, 86_400 * 365 * 100]) {
      expect(await verify(raw, sign(body, seconds + away, secret))).toBe(!dated)
    }
    for (const away of [-299, 299]) expect(await verify(raw, sign(body, seconds + away, secret))).toBe(true)
  })
})

test('while a secret is replaced, one valid signature of two is enough', () => {
  const raw = Buffer.from(body)
  const good = mac(`${seconds}:${body}`, 'hex')
  expect(verifyPaddle(raw, `ts=${seconds};h1=${'0'.repeat(64)};h1=${good}`, secret, now)).toBe(true)
  const signature = `v1,AAAA v1,${mac(`msg_1.${seconds}.${body}`, 'base64')}`
  expect(verifyPolar(raw, { id: 'msg_1', timestamp: String(seconds), signature }, secret, now)).toBe(true)
})
