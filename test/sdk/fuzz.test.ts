/**
 * Guarantee: whatever bytes reach the client in JavaScript, it throws nothing, takes nothing and grants nothing: texts of the vectors,
 * changed at random, with keys that have signed none of them. `KEYLEDGER_TEST_FUZZ` is the number of texts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { factsFrom, newFacts, stateOf, textOf } from '../../src/sdk/javascript/app/index.ts'
import { tokenIn } from '../../src/sdk/javascript/app/offline/armor.ts'
import { newOfflineFacts } from '../../src/sdk/javascript/app/offline/facts.ts'
import { takeCarried } from '../../src/sdk/javascript/app/offline/take.ts'
import { problemOf } from '../../src/sdk/javascript/app/problem.ts'
import { beginTrial, takeProof, takeSettings, takeTrial } from '../../src/sdk/javascript/app/take.ts'
import { publicKeyOf } from '../../src/sdk/javascript/ed25519.ts'
import { isMintedKey, licenseKeyHash } from '../../src/sdk/javascript/index.ts'
import { isShared } from '../../src/sdk/javascript/node/index.ts'
import { retryAfterMs } from '../../src/sdk/javascript/retry-after.ts'
import { wholeVariable } from '../harness/variables.ts'
import { keyset, place } from './vectors/keys.ts'

const directory = join(import.meta.dirname, '../../docs/reference/vectors')
const runs = wholeVariable('KEYLEDGER_TEST_FUZZ', 2000)

/** The longer texts in a value, and the smaller objects. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 20 ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  const whole = Array.isArray(value) || Object.keys(value).length > 40 ? [] : [JSON.stringify(value)]
  return [...whole, ...Object.values(value).flatMap(textsIn)]
}
const seeds = readdirSync(directory)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => textsIn(JSON.parse(readFileSync(join(directory, name), 'utf8'))))

const pieces = [
  'null',
  '1e999',
  '-0',
  '9007199254740993',
  '"\\ud800"',
  '"__proto__":',
  '[[[[',
  '}}}}',
  'İ',
  'ß',
  '﻿',
]
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat(40),
  put: fc.oneof(
    fc.constantFrom(...pieces),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom(...seeds).map((text) => text.slice(0, 80)),
  ),
})
const changed = fc
  .record({ seed: fc.constantFrom(...seeds), changes: fc.array(change, { maxLength: 6 }) })
  .map(({ seed, changes }) =>
    changes.reduce((text, { at, cut, put }) => {
      const from = Math.floor(at * text.length)
      return text.slice(0, from) + put + text.slice(from + cut)
    }, seed),
  )

const stranger = Buffer.from(publicKeyOf(new Uint8Array(32).fill(0x77))).toString('base64')
const keys = Object.fromEntries(Object.keys(keyset.keys).map((kid) => [kid, stranger]))
const held = { key: 'ACME-1', instanceId: 'ins_1', relay: undefined }

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

test('arbitrary texts are read without a failure, and grant nothing', () => {
  fc.assert(
    fc.property(changed, fc.boolean(), (text, isRefusal) => {
      const json = jsonOf(text)
      const facts = newFacts('install', keys)
      const refused = (taken: object) => expect(taken).not.toMatchObject({ as: 'fresh' })
      refused(takeProof(facts, json, held, place, 0))
      refused(
        takeProof(facts, { lease2: text, lease: json, ...(isRefusal && { refusal: json }) }, held, place, 0),
      )
      const offline = newOfflineFacts()
      refused(takeCarried({ ...facts, offline }, tokenIn(text), { place, device: undefined }, 0))
      const settled = takeSettings(facts, json, place, 0, false)
      if ('facts' in settled) expect(settled.facts.settings?.trialDurationDays).toBeUndefined()
      takeTrial(beginTrial(facts, 0), json)
      const stored = factsFrom(text, place, keys)
      if (stored) {
        const state = stateOf(stored, 1_793_530_000, { builtAt: 0, defaultTrialDays: 14 })
        expect(state).not.toHaveProperty('entitlements')
        expect(factsFrom(textOf(stored), place, keys)).toStrictEqual(stored)
      }
      expect(problemOf({ status: 422, body: json, retryAfterMs: undefined }).message).not.toBe('')
      retryAfterMs(text, 0)
      isShared(text)
      expect(licenseKeyHash(text)).toHaveLength(64)
      isMintedKey(text)
    }),
    { numRuns: runs },
  )
})
