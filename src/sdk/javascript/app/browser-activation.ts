import { isRecord, isSeconds } from '../keyset.ts'
import type { Judged } from './calls.ts'
import { nameOf, type Ports } from './operations.ts'
import { type Problem, problemOf } from './problem.ts'
import type { Answered } from './request.ts'

/** A page where a person chooses a license for this app. */
export type ActivationPage = {
  /** To open in their browser. */
  url: string
  /** To show in the app, so that they can compare it with the page. */
  code: string
}

export type Waiting = ActivationPage & { deviceCode: string; pollMs: number; polls: number }

const path = 'browser-activations'

/** Asks for a page on which a person chooses a license. */
export async function askInBrowser(ports: Ports): Promise<Judged<Waiting>> {
  const body = { device_name: nameOf(ports, await ports.keeper.load()) }
  return ports.servers.vendor.send(path, body, async (answered) => {
    const waiting = waitingIn(answered)
    return waiting ? { value: waiting } : { problem: problemOf(answered) }
  })
}

function waitingIn({ status, body }: Answered): Waiting | undefined {
  if (status !== 200 || !isRecord(body)) return undefined
  const {
    device_code: deviceCode,
    user_code: code,
    verification_uri_complete: url,
    interval,
    expires_in: ends,
  } = body
  const isComplete =
    typeof deviceCode === 'string' && typeof code === 'string' && isSeconds(interval) && isSeconds(ends)
  // The app opens it, so it is an address of a page and nothing else.
  if (!isComplete || typeof url !== 'string' || !/^https?:\/\//.test(url)) return undefined
  const seconds = Math.max(1, interval)
  return { url, code, deviceCode, pollMs: seconds * 1000, polls: Math.floor(ends / seconds) }
}

/** Asks once what the person has decided. @returns the license key, or undefined while they have not */
export const pollBrowser = ({ servers }: Ports, deviceCode: string): Promise<Judged<string | undefined>> =>
  servers.vendor.send(`${path}/poll`, { device_code: deviceCode }, async (answered) => {
    const { status, license_key: key } = isRecord(answered.body) ? answered.body : {}
    if (answered.status !== 200) return { problem: problemOf(answered) }
    if (status === 'pending') return { value: undefined }
    if (status === 'chosen' && typeof key === 'string') return { value: key }
    const problem = typeof status === 'string' ? (ended[status] ?? ended.expired) : undefined
    return { problem: problem ?? problemOf(answered) }
  })

export const givenUp: Problem = { code: 'refused', message: 'no license was chosen in time' }

const ended: Readonly<Record<string, Problem>> = {
  denied: { code: 'refused', message: 'the person has chosen no license for this app' },
  expired: givenUp,
}
