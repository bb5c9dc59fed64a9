/** Guarantee: what is signed and verified as `v4.public` is what PASETO's own test vectors say. */
import { createPrivateKey, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isSigned, parseToken } from '../../src/sdk/javascript/paseto.ts'
import { bytesToSign, tokenOf } from '../../src/signing/paseto.ts'

/** 4-S-1 to 4-S-3 of https://github.com/paseto-standard/test-vectors, v4.json. */
const publicKey = Buffer.from('1eb9dbbbbc047c03fd70604e0071f0987e16b28b757225c11f00415d0e20b1a2', 'hex')
const seed = 'b4cbfb43df4ce210727d953e4a713307fa19bb7d9f85041438d9e11b942a3774'
const message = '{"data":"this is a signed message","exp":"2022-01-01T00:00:00+00:00"}'
const body = 'eyJkYXRhIjoidGhpcyBpcyBhIHNpZ25lZCBtZXNzYWdlIiwiZXhwIjoiMjAyMi0wMS0wMVQwMDowMDowMCswMDowMCJ9'
const footer = '{"kid":"zVhMiPBP9fRf2snEcT7gFTioeA9COcNy9DfgL1W60haN"}'
const encodedFooter = '.eyJraWQiOiJ6VmhNaVBCUDlmUmYyc25FY1Q3Z0ZUaW9lQTlDT2NOeTlEZmdMMVc2MGhhTiJ9'
const vectors = [
  {
    name: '4-S-1',
    signature: 'bg_XBBzds8lTZShVlwwKSgeKpLT3yukTw6JUz3W4h_ExsQV-P0V54zemZDcAxFaSeef1QlXEFtkqxT1ciiQEDA',
    footer: '',
    assertion: '',
  },
  {
    name: '4-S-2',
    signature: 'v3Jt8mx_TdM2ceTGoqwrh4yDFn0XsHvvV_D0DtwQxVrJEBMl0F2caAdgnpKlt4p7xBnx1HcO-SPo8FPp214HDw',
    footer,
    assertion: '',
  },
  {
    name: '4-S-3',
    signature: 'NPWciuD3d0o5eXJXG5pJy-DiVEoyPYWs1YSTwWHNJq6DZD3je5gf-0M4JR9ipdUSJbIovzmBECeaWmaqcaP0DQ',
    footer,
    assertion: '{"test-vector":"4-S-3"}',
  },
]

describe.each(vectors)('$name', ({ signature, footer: known, assertion }) => {
  const token = `v4.public.${body}${signature}${known === '' ? '' : encodedFooter}`
  const parsed = parseToken(token)

  test('is taken apart', () => {
    expect(parsed && Buffer.from(parsed.message).toString()).toBe(message)
    expect(parsed && Buffer.from(parsed.footer).toString()).toBe(known)
  })
  test('is signed for its assertion and no other', () => {
    expect(parsed && isSigned(parsed, assertion, publicKey)).toBe(true)
    expect(parsed && isSigned(parsed, 'another', publicKey)).toBe(false)
  })
  test('is what the server signs', () => {
    const der = Buffer.concat([
      Buffer.from('302e020100300506032b657004220420', 'hex'),
      Buffer.from(seed, 'hex'),
    ])
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    const signed = sign(null, bytesToSign(message, known, assertion), key).toString('base64')
    expect(tokenOf(message, known, signed)).toBe(token)
  })
})
