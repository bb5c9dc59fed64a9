import { mkdirSync } from 'node:fs'
import { hashPassword, problemOfPassword } from '../access/password.ts'
import { readKey } from '../credentials/license-key.ts'
import type { Clocks } from './clock.ts'
import { createRelayClock } from './clock.ts'
import { openOrMakeKey } from './key.ts'
import { makeRequest, RequestRefused } from './requests.ts'
import { openDatabase } from './store/database.ts'
import { type Enrollment, readValue, removeValue, writeValue } from './store/state.ts'

/** What a relay is enrolled with; the license key and the password in clear. */
export type EnrollmentIn = Omit<Enrollment, 'keyHash' | 'server'> & {
  licenseKey: string
  server: { url: string; sdkKey: string } | null
}

/**
 * Prepares a directory for a relay: its key, what it is for, and the first request to the vendor. A relay that is not answered yet
 * begins again; one that gave its seats back may be enrolled anew.
 * @returns the request
 * @throws RequestRefused for a key that is none, a weak password, and a relay that is enrolled; KeyUnusable; StoreFailed
 */
export async function enroll(
  directory: string,
  { licenseKey, password, server, ...rest }: EnrollmentIn,
  clocks: Clocks,
): Promise<string> {
  const read = readKey(licenseKey)
  if (!read) throw new RequestRefused('The license key is mistyped: its last character does not fit.')
  const problem = problemOfPassword(password, null)
  if (problem !== undefined) throw new RequestRefused(problem)
  const enrollment = {
    ...rest,
    keyHash: read.keyHash,
    password: await hashPassword(password),
    server: server && { ...server, licenseKey },
  }
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const database = openDatabase(directory)
  try {
    const key = openOrMakeKey(directory)
    database.transact((file) => {
      const isEnrolled = readValue(file, 'answer') !== undefined && !readValue(file, 'released')
      if (isEnrolled)
        throw new RequestRefused(
          'A relay is enrolled here. Renew it (keyledger relay renew), or release it first (keyledger relay release).',
        )
      writeValue(file, 'enrollment', enrollment)
      removeValue(file, 'answer')
      removeValue(file, 'released')
      file.exec('delete from requests')
    })
    const time = database.read((file) => readValue(file, 'time'))
    return makeRequest(database, key, createRelayClock(clocks, time))
  } finally {
    database.close()
  }
}
