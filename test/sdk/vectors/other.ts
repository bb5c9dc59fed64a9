import { createHmac } from 'node:crypto'
import { type Case, key, licenseKey, now, stranger } from './keys.ts'

/** Published keys: a kid is the first 16 hex digits of the SHA-256 of the raw key. */
export const keys = () => {
  const { kid, publicKey } = key
  const wrong = (name: string, why: string, change: object): Case => ({
    name,
    valid: false,
    why,
    kid,
    publicKey,
    ...change,
  })
  return {
    cases: [
      { name: 'as published', valid: true, why: 'the kid is the hash of the key', kid, publicKey },
      {
        name: 'another, as published',
        valid: true,
        why: 'a tenant may have several',
        kid: stranger.kid,
        publicKey: stranger.publicKey,
      },
      wrong('another key', 'the kid is that of another key', { publicKey: stranger.publicKey }),
      wrong('cut off', 'a key has 32 bytes', { publicKey: publicKey.slice(0, 40) }),
      wrong('longer', 'a key has 32 bytes', { publicKey: Buffer.alloc(33).toString('base64') }),
      wrong('empty', 'there is nothing in it', { publicKey: '' }),
      wrong('no base64', 'it has other characters', { publicKey: '§'.repeat(44) }),
      wrong('a number', 'a key is a text', { publicKey: 7 }),
      wrong('a longer kid', 'a kid has 16 digits', { kid: `${kid}0` }),
      wrong('upper case', 'the digits are lower case', { kid: kid.toUpperCase() }),
    ],
  }
}

export function webhooks() {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const former = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
  const id = 'whd_01k9m3v5q7e8ra9c1d3f5g7h9j'
  const body = `{"id":"${id}","created":${now},"version":"2026-11-01","event":"license.created","tenant_id":"acme","license_id":"lic_01k9m3v5q7e8ra9c1d3f5g7h9j","product_id":"acme-editor","key_type_id":"pro","customer_email":"ada@example.com","test":false,"sequence":1,"key":"${licenseKey}","session_id":"cs_1"}`
  const own = (one: string, at = now, text = body) =>
    `v1=${createHmac('sha256', one).update(`${at}.${text}`).digest('hex')}`
  const standard = (one: string, at = now, text = body) =>
    `v1,${createHmac('sha256', Buffer.from(one.slice(6), 'base64'))
      .update(`${id}.${at}.${text}`)
      .digest('base64')}`
  const headers = (secrets: string[], at = now) => ({
    'x-service-signature': [`t=${at}`, ...secrets.map((one) => own(one, at))].join(','),
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': secrets.map((one) => standard(one, at)).join(' '),
  })
  const good = headers([secret])
  const { 'x-service-signature': ownOnly, ...standardOnly } = good
  const cases: Case[] = [
    { name: 'both signatures', valid: true, why: 'as it is sent', headers: good, body },
    {
      name: 'Standard Webhooks alone',
      valid: true,
      why: 'one scheme is enough',
      headers: standardOnly,
      body,
    },
    {
      name: 'X-Service-Signature alone',
      valid: true,
      why: 'one scheme is enough',
      headers: { 'x-service-signature': ownOnly },
      body,
    },
    {
      name: 'while the secret is replaced',
      valid: true,
      why: 'there are two signatures, and one matches',
      headers: headers([former, secret]),
      body,
    },
    {
      name: 'five minutes old',
      valid: true,
      why: 'the tolerance is 300 seconds',
      headers: headers([secret], now - 300),
      body,
    },
    {
      name: 'older',
      valid: false,
      reason: 'timestamp',
      why: 'a recorded request is sent again',
      headers: headers([secret], now - 301),
      body,
    },
    {
      name: 'from the future',
      valid: false,
      reason: 'timestamp',
      why: 'the timestamp is too far ahead',
      headers: headers([secret], now + 301),
      body,
    },
    {
      name: 'changed body',
      valid: false,
      reason: 'signature',
      why: 'one digit is another',
      headers: good,
      body: body.replace('"sequence":1', '"sequence":2'),
    },
    {
      name: 'other white space',
      valid: false,
      reason: 'signature',
      why: 'the body was parsed and written again',
      headers: good,
      body: JSON.stringify(JSON.parse(body), null, 1),
    },
    {
      name: 'another secret',
      valid: false,
      reason: 'signature',
      why: 'signed by somebody else',
      headers: headers([former]),
      body,
    },
    {
      name: 'no signature',
      valid: false,
      reason: 'unsigned',
      why: 'neither header is there',
      headers: {},
      body,
    },
    {
      name: 'another id',
      valid: false,
      reason: 'signature',
      why: 'the id is signed too',
      headers: { ...standardOnly, 'webhook-id': 'whd_other' },
      body,
    },
    {
      name: 'no timestamp',
      valid: false,
      reason: 'timestamp',
      why: 'X-Service-Signature without t',
      headers: { 'x-service-signature': own(secret) },
      body,
    },
  ]
  return { secret, now, toleranceSeconds: 300, cases }
}
