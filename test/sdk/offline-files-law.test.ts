/**
 * Laws of license files, over random histories of three machines, a clumsy vendor and dishonest users, with the rules of the
 * domain, real signatures and the client of the SDK:
 * - only a machine that asked has a license, whatever storage is copied to it;
 * - no more machines have one at a time than the license has seats, until somebody restores a copy of a machine; then the
 *   list of withdrawn files ends the surplus;
 * - a clock that is set back brings no file back;
 * - a license gets no more files within a year than its key type allows.
 */
import { sign } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
  type LicenseCommand,
} from '../../src/domain/licenses/license.ts'
import { type SeatFile, withdrawnFiles } from '../../src/domain/licenses/seat-files.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { type Client, createClient } from '../../src/sdk/javascript/app/index.ts'
import { readRelease, readRequest } from '../../src/signing/device-statements.ts'
import { signLease2 } from '../../src/signing/lease2.ts'
import { signWithdrawn } from '../../src/signing/withdrawn.ts'
import type { SaidOfMachine } from '../../src/vault/device-hashing.ts'
import { minted } from '../domain/licenses/license-samples.ts'
import { key, keyset, licenseKey, licenseKeyHash, place } from './vectors/keys.ts'

const seats = 2
const perSeatPerYear = 3
const fileDays = 30
const day = 86_400_000
const begin = Date.parse('2026-03-01T00:00:00.000Z')
const active = { kid: key.kid, secretName: '', signsFrom: '' }
const signer = {
  prepare: async () => undefined,
  sign: async (_: string, __: unknown, text: string | Uint8Array) =>
    sign(null, Buffer.from(text), key.privateKey).toString('base64'),
  close: async () => undefined,
}

const signFile = (license: IssuedLicense, instanceId: string, device: SaidOfMachine, file: SeatFile) =>
  signLease2(
    signer,
    active,
    {
      ...place,
      licenseId: 'lic_1',
      keyHash: licenseKeyHash,
      instanceId,
      status: 'active',
      entitlements: ['export'],
      values: {},
      license,
      leaseSeconds: 0,
      device,
      file,
    },
    file.issuedAt,
  )

/** The vendor's side: the license, by the rules of the domain. */
function vendor() {
  const issued = minted({ deviceLimit: seats, expiresAt: null, keyHash: licenseKeyHash })
  let license = evolveLicense(absentLicense, issued) as IssuedLicense
  let made = 0
  const issuedAt: number[] = []
  const run = (command: LicenseCommand) => {
    try {
      const events = decideLicense(license, command)
      license = events.reduce<License>(evolveLicense, license) as IssuedLicense
      return events
    } catch (error) {
      if (error instanceof Refusal) return undefined
      throw error
    }
  }
  return {
    issuedAt,
    async answer(text: string, now: number): Promise<string | undefined> {
      const request = readRequest(text, place)
      if (!request) throw new Error('a request is read')
      const { said, deviceKey, nonce, counter, name } = request
      const at = new Date(now).toISOString()
      const identity = { subjectId: 'sub_1', machine: said.machineHash, components: said.components }
      const events = run({
        type: 'IssueFile',
        fileId: `fil_${++made}`,
        instanceId: `ins_${made}`,
        platform: null,
        claim: { instanceId: null, installId: null, name, identities: [identity] },
        atLeast: null,
        request: { deviceKey, nonce, counter },
        seconds: (fileDays * day) / 1000,
        perSeatPerYear,
        at,
      })
      if (events?.some(({ type }) => type === 'LicenseFileIssued')) issuedAt.push(now)
      const seat = [...license.seats.values()].find(({ files }) =>
        files?.some((file) => file.nonce === nonce),
      )
      const file = seat?.files?.find((each) => each.nonce === nonce)
      return events && seat && file && signFile(license, seat.instanceId, said, file)
    },
    takeBack(text: string, now: number) {
      const release = readRelease(text, place)
      if (!release) throw new Error('a release is read')
      run({ type: 'ReleaseFile', ...release, at: new Date(now).toISOString() })
    },
    deactivateAll(now: number) {
      const at = new Date(now).toISOString()
      for (const { deviceId } of license.seats.values()) run({ type: 'DeactivateDevice', deviceId, at })
    },
    withdrawn(now: number) {
      const at = new Date(now).toISOString()
      const files = [...license.seats.values()].flatMap((seat) =>
        withdrawnFiles(seat.files ?? [], license, at).map(({ fileId }) => fileId),
      )
      return signWithdrawn(signer, active, { ...place, files }, at)
    },
  }
}

/** A computer: what it is, its clock, its storage, and a copy of its storage that was kept. */
function machine(index: number, time: () => number) {
  let behind = 0
  let text: string | undefined
  let copy: string | undefined
  let client: Client
  const write = (next: string) => {
    text = next
  }
  const start = () => {
    client = createClient({
      ...place,
      keys: keyset.keys,
      storage: { read: () => text, write },
      identity: () => ({ machineHash: `hash-of-machine-${index}` }),
      deviceName: 'PC',
      clock: { now: () => time() - behind, after: () => () => undefined },
    })
    return client.start()
  }
  return {
    start,
    client: () => client,
    setClockBack: (ms: number) => {
      behind = ms
    },
    keepCopy: () => {
      copy = text
    },
    restoreCopy: () => {
      text = copy ?? text
      return start()
    },
    storageOf: () => text,
    useStorage: (other: string | undefined) => {
      text = other ?? text
      return start()
    },
  }
}

const which = fc.nat({ max: 2 })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('ask' as const), on: which }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('release' as const), on: which }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('release, and carry nothing' as const), on: which }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('deactivate all' as const), on: which }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('set the clock back' as const), on: which }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('start again' as const), on: which }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('wait' as const), on: which }) },
)
const theft = fc.oneof(
  fc.record({ what: fc.constant('keep a copy' as const), on: which }),
  fc.record({ what: fc.constant('restore the copy' as const), on: which }),
)
type Step = { what: string; on: number }

async function play(steps: readonly Step[]) {
  let now = begin
  const shop = vendor()
  const machines = [0, 1, 2].map((index) => machine(index, () => now))
  const asked = new Set<number>()
  for (const one of machines) await one.start()
  for (const { what, on } of steps) {
    const own = machines[on]
    if (!own) throw new Error('there are three machines')
    const before = own.client().state().status
    if (what === 'ask') {
      const file = await shop.answer((await own.client().createOfflineRequest(licenseKey)).text, now)
      if (file !== undefined && (await own.client().importLicense(file)).ok) asked.add(on)
    } else if (what.startsWith('release')) {
      const release = await own.client().release()
      if (release && what === 'release') shop.takeBack(release.text, now)
    } else if (what === 'deactivate all') shop.deactivateAll(now)
    else if (what === 'start again') await own.start()
    else if (what === 'keep a copy') own.keepCopy()
    else if (what === 'restore the copy') await own.restoreCopy()
    else if (what === 'wait') now += ((on + 1) * fileDays * day) / 2.5
    else {
      own.setClockBack(400 * day)
      const after = own.client().state().status
      if (before === 'expired') expect(after).toBe('expired')
      own.setClockBack(0)
    }
    now += 1000
  }
  const licensed = () => machines.filter((one) => one.client().state().status === 'licensed').length
  return { shop, machines, asked, licensed, now: () => now }
}

test('files are not multiplied by asking, giving back, deactivating, waiting or setting clocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const { shop, machines, asked, licensed, now } = await play(steps)
      expect(licensed()).toBeLessThanOrEqual(seats)
      for (const [index, one] of machines.entries()) {
        if (one.client().state().status === 'licensed') expect(asked).toContain(index)
      }
      const ofYear = shop.issuedAt.filter((at) => now() - at < 364 * day)
      expect(ofYear.length).toBeLessThanOrEqual(seats * perSeatPerYear)
    }),
    { numRuns: 60 },
  )
})

test('a storage that is copied to another machine licenses nothing there', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), which, async (steps, from) => {
      const { machines } = await play([{ what: 'ask', on: from }, ...steps])
      const thief = machines[(from + 1) % 3]
      await thief?.useStorage(machines[from]?.storageOf())
      expect(['unlicensed', 'another_device']).toContain(thief?.client().state().status)
    }),
    { numRuns: 30 },
  )
})

/** One machine goes on with the file that it gave back, beside two others. */
const threeOnTwoSeats: Step[] = [
  ...['ask', 'keep a copy', 'release', 'restore the copy'].map((what) => ({ what, on: 0 })),
  { what: 'ask', on: 1 },
  { what: 'ask', on: 2 },
]

test('machines that are restored from copies lose their files with the list of withdrawn ones', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof<[fc.WeightedArbitrary<Step>, fc.WeightedArbitrary<Step>]>(
          { weight: 3, arbitrary: step },
          { weight: 1, arbitrary: theft },
        ),
        {
          minLength: 5,
          maxLength: 30,
        },
      ),
      async (steps) => {
        const { shop, machines, licensed, now } = await play(steps)
        const list = await shop.withdrawn(now())
        for (const one of machines) expect(await one.client().importLicense(list)).toMatchObject({ ok: true })
        expect(licensed()).toBeLessThanOrEqual(seats)
      },
    ),
    { numRuns: 60, examples: [[threeOnTwoSeats]] },
  )
})
