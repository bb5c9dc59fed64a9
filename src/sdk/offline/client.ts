import { hexToBytes } from '@noble/hashes/utils.js'
import { askIdentity, type Identify } from '../app/identity.ts'
import { type Clock, noticeSeconds, randomHex, type Storage, systemClock } from '../app/ports.ts'
import { publicKeyOf } from '../ed25519.ts'
import type { Keyset, Place } from '../keyset.ts'
import type { LeasedDevice } from '../lease2.ts'
import { licenseKeyHash } from '../license-key.ts'
import { base64url, signOwn } from '../paseto.ts'
import { armored, tokenIn } from './armor.ts'
import { type OfflineFacts, offlineFactsFrom, offlineTextOf } from './facts.ts'
import { type FileRefusal, type Given, readHeld } from './read.ts'
import { type OfflineState, offlineStateOf } from './state.ts'
import { take } from './take.ts'

export type OfflineOptions = Place & {
  /** The public keys of the tenant, shipped with the app: nothing is fetched. */
  keys: Keyset['keys']
  /** Where the device's own key and its file are kept: the user of the device should not be able to lose it by chance. */
  storage: Storage
  /** Says what the device is: `identifyDevice` of `keyledger/client/node`. */
  identity: Identify
  /** How the vendor and the customer see this device. */
  deviceName: string
  clock?: Clock
}

/** What importing a text has led to. */
export type Imported =
  | { ok: true; state: OfflineState }
  | { ok: false; reason: FileRefusal; state: OfflineState }

/** A text to carry to the vendor; `token` is the same without lines, for a QR code. */
export type Carried = { text: string; token: string }

export type OfflineClient = {
  /** Reads the storage. @returns the state that was stored */
  start(): Promise<OfflineState>
  /** The present state; it may change by itself as time passes. */
  state(): OfflineState
  /** Asks for a license file, the first or the next one, with a license key that a person has typed. */
  createOfflineRequest(licenseKey: string): Promise<Carried>
  /** Takes the answer to the last request, or the list of withdrawn files. */
  importLicense(text: string): Promise<Imported>
  /**
   * Gives the file back: the device stops using it, and the text frees the seat at the vendor.
   * @returns undefined without a file; the same text again for a file that was given back before
   */
  release(): Promise<Carried | undefined>
}

/**
 * The client of an app on a machine without a network: it asks for a license file, takes it and gives it back, as texts that
 * somebody carries. It sends nothing.
 */
export function createOfflineClient(options: OfflineOptions): OfflineClient {
  const memory = createMemory(options)
  const { now, load, store, state, given, place } = memory

  const carried = (kind: 'REQUEST' | 'RELEASE', claims: object, { seed }: OfflineFacts): Carried => {
    const assertion = `keyledger:${kind.toLowerCase()}1:${place.tenantId}:${place.productId}`
    const token = signOwn(
      { iat: new Date(now() * 1000).toISOString(), ...claims },
      assertion,
      hexToBytes(seed),
    )
    return { text: armored(kind, token), token }
  }

  return {
    state,
    async start() {
      await load()
      return state()
    },
    async createOfflineRequest(licenseKey) {
      const known = await load()
      const asked = { nonce: randomHex(16), licenseKeyHash: licenseKeyHash(licenseKey) }
      const counter = known.counter + 1
      // Stored before it is given out, so that a request never repeats a counter.
      await store({ ...known, counter, asked })
      const { machineHash, components } = given().device
      const claims = {
        nonce: asked.nonce,
        counter,
        license_key_hash: asked.licenseKeyHash,
        instance_name: options.deviceName,
        device: { machine_hash: machineHash, components },
      }
      return carried('REQUEST', claims, known)
    },
    async importLicense(text) {
      const known = await load()
      const taken = take(tokenIn(text), known, given(), now())
      if ('reason' in taken) return { ok: false, reason: taken.reason, state: state() }
      await store(taken.facts)
      return { ok: true, state: state() }
    },
    async release() {
      const known = await load()
      const held = known.file && readHeld(known, given())
      if (!held) return undefined
      const { serial, instanceId } = held.lease
      // Stored before it is given out: from now on the device does not use the file any more.
      if (known.released < serial) await store({ ...known, released: serial })
      return carried('RELEASE', { instance_id: instanceId, serial }, known)
    },
  }
}

/** What the device remembers and is, and the state that follows. */
function createMemory({ tenantId, productId, keys, storage, identity, clock = systemClock }: OfflineOptions) {
  const place = { tenantId, productId }
  const now = () => Math.floor(clock.now() / 1000)
  let facts: OfflineFacts | undefined
  let device: LeasedDevice = { machineHash: null, components: {} }
  let storedSeen = 0
  let writing: Promise<void> = Promise.resolve()
  /** One write after another, so that an older one never ends last. */
  const write = (next: OfflineFacts): Promise<void> => {
    facts = next
    storedSeen = next.seen
    const written = writing.then(() => storage.write(offlineTextOf(next)))
    writing = written.catch(() => undefined)
    return written
  }
  const given = (): Given => ({ place, keyset: { keys }, device })

  return {
    place,
    now,
    given,
    async load(): Promise<OfflineFacts> {
      const said = await askIdentity(undefined, identity, place)
      await writing
      facts = offlineFactsFrom(await storage.read()) ?? facts ?? newFacts()
      storedSeen = facts.seen
      const components = said.device ?? {}
      // A machine that has no id of its own, as some containers, is known by the key in its storage alone.
      const own = Object.keys(components).length > 0 ? null : base64url(publicKeyOf(hexToBytes(facts.seed)))
      device = { machineHash: said.machine_hash ?? own, components }
      return facts
    },
    store: async (next: OfflineFacts) => write({ ...next, seen: Math.max(next.seen, now()) }),
    state(): OfflineState {
      if (!facts) return { status: 'starting', clockSetBack: false }
      const present = offlineStateOf(facts, given(), now())
      if (now() > facts.seen) facts = { ...facts, seen: now() }
      // Otherwise a program that is ended and started again would not know the time that it has seen.
      if ('until' in present && facts.seen >= storedSeen + noticeSeconds)
        void write(facts).catch(() => undefined)
      return present
    },
  }
}

const newFacts = (): OfflineFacts => ({ seed: randomHex(32), counter: 0, released: 0, seen: 0 })
