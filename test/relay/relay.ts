import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { z } from 'zod'
import type { activateIn } from '../../src/api/client/schemas.ts'
import { Problem } from '../../src/http/problem.ts'
import { type Clocks, createRelayClock } from '../../src/relay/clock.ts'
import { enroll } from '../../src/relay/enrollment.ts'
import { openKey } from '../../src/relay/key.ts'
import { openRelay } from '../../src/relay/relay.ts'
import { acceptAnswer, makeRequest } from '../../src/relay/requests.ts'
import { openDatabase } from '../../src/relay/store/database.ts'
import { readValue } from '../../src/relay/store/state.ts'
import { testClocks } from './clocks.ts'
import { createVendor, productId, type Terms, tenantId, type Vendor } from './vendor.ts'

export const password = 'correct horse battery staple'

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'kl-relay-'))
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

/** Enrolls a relay in a new directory, and has the vendor answer. */
export async function enrolled(
  terms: Terms & { vendor?: Vendor; server?: { url: string; sdkKey: string } } = {},
  time = testClocks(),
) {
  const vendor = terms.vendor ?? createVendor()
  const directory = newDirectory()
  const enrollment = {
    tenantId,
    productId,
    name: 'Office',
    seats: terms.seats ?? 2,
    server: terms.server ?? null,
  }
  const secrets = { licenseKey: vendor.licenseKey, password }
  const request = await enroll(directory, { ...enrollment, ...secrets }, time.clocks)
  accept(directory, vendor.answer(request, { now: Math.floor(time.real / 1000), ...terms }), time.clocks)
  return { vendor, directory, time, request }
}

/** As `keyledger relay accept` does it, in another process. */
export function accept(directory: string, answer: string, clocks: Clocks): void {
  onFiles(directory, clocks, ({ database, key, clock }) => {
    acceptAnswer(database, key, clock, answer)
  })
}

/** As `keyledger relay renew` does it. */
export const renewalRequest = (directory: string, clocks: Clocks, seats?: number): string =>
  onFiles(directory, clocks, ({ database, key, clock }) => makeRequest(database, key, clock, seats))

export function onFiles<Result>(
  directory: string,
  clocks: Clocks,
  work: (files: ReturnType<typeof filesOf>) => Result,
): Result {
  const files = filesOf(directory, clocks)
  try {
    return work(files)
  } finally {
    files.database.close()
  }
}

function filesOf(directory: string, clocks: Clocks) {
  const database = openDatabase(directory)
  const time = database.read((file) => readValue(file, 'time'))
  return { database, key: openKey(directory), clock: createRelayClock(clocks, time) }
}

/** A relay as a process that serves has it. */
export function openedRelay(directory: string, clocks: Clocks, maxPages?: number) {
  const database = openDatabase(directory, maxPages)
  const relay = openRelay(database, clocks)
  onTestFinished(() => {
    database.close()
  })
  return { database, relay, key: openKey(directory) }
}

/** The body of an activation. */
export const activation = (
  vendor: Vendor,
  name: string,
  more: Partial<z.input<typeof activateIn>> = {},
): z.output<typeof activateIn> => ({
  license_key: vendor.licenseKey,
  instance_name: name,
  machine_hash: Buffer.from(`machine of ${name}`.padEnd(24)).toString('base64'),
  lease_version: 2,
  ...(more as object),
})

/** What a call is refused with. */
export function refusal(call: () => unknown): { status: number; message: string; details: object } {
  try {
    call()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { status, message, details } = error
    return { status, message, details }
  }
  throw new Error('the call was not refused')
}
