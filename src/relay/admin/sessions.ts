import { randomBytes } from 'node:crypto'
import { sha256 } from '../../credentials/sha256.ts'

/** A browser that is signed in; `csrf` stands in each of its forms. */
export type Session = { csrf: string; id: string }

/** The administrator's sessions and failed attempts to sign in. They end with the process. */
export type Sessions = {
  /** @returns what the cookie of the browser holds */
  begin: () => string
  find: (cookie: string) => Session | undefined
  end: (session: Session) => void
  /** Takes an attempt to sign in. @returns how many seconds to wait; 0 when it may be made */
  attempt: (address: string) => number
  /** Gives an address all its attempts again. */
  forgive: (address: string) => void
}

const sessionMs = 8 * 3_600_000
const mostSessions = 100

/** Five attempts at once, then one a minute for an address, and one in ten seconds for all. */
const perAddress = { burst: 5, intervalMs: 60_000 }
const forAll = { burst: 20, intervalMs: 10_000 }
const mostAddresses = 1000

/** @param now milliseconds of a monotonic clock */
export function createSessions(now: () => number): Sessions {
  const sessions = new Map<string, Session & { endsAt: number }>()
  /** When the whole allowance is there again, by address; of all under ''. */
  const fullAgain = new Map<string, number>()

  function waitFor(name: string, { burst, intervalMs }: typeof perAddress): number {
    const next = Math.max(fullAgain.get(name) ?? 0, now()) + intervalMs
    const waitMs = next - now() - burst * intervalMs
    if (waitMs > 0) return Math.ceil(waitMs / 1000)
    fullAgain.delete(name)
    fullAgain.set(name, next)
    for (const [oldest, at] of fullAgain) {
      if (fullAgain.size <= mostAddresses && at > now()) break
      if (oldest !== name) fullAgain.delete(oldest)
    }
    return 0
  }
  return {
    begin() {
      for (const [id, { endsAt }] of sessions)
        if (endsAt <= now() || sessions.size >= mostSessions) sessions.delete(id)
      const cookie = randomBytes(32).toString('base64url')
      const id = sha256(cookie)
      sessions.set(id, { id, csrf: randomBytes(32).toString('hex'), endsAt: now() + sessionMs })
      return cookie
    },
    find(cookie) {
      const found = sessions.get(sha256(cookie))
      return found && found.endsAt > now() ? found : undefined
    },
    end: ({ id }) => void sessions.delete(id),
    attempt: (address) => waitFor(address, perAddress) || waitFor('', forAll),
    forgive: (address) => void fullAgain.delete(address),
  }
}
