import type { Pool } from 'pg'

/** `burst` attempts at once, and one more after each interval (milliseconds). */
export type Allowance = { burst: number; intervalMs: number }

type Attempt = { allowed: true } | { allowed: false; retryAfterSeconds: number }

/**
 * Limits attempts exactly, across all processes. Each bucket is a row with the time at which the whole
 * allowance is available again (GCRA's "theoretical arrival time").
 */
export type Attempts = {
  /**
   * Takes an attempt from each bucket in order. If a bucket is empty, returns the wait; attempts already taken
   * from earlier buckets are not returned.
   */
  take(buckets: readonly { bucket: string; allowance: Allowance }[]): Promise<Attempt>
  /** Returns an attempt that was taken. */
  giveBack(bucket: string, allowance: Allowance): Promise<void>
  /** Restores a bucket's whole allowance. */
  forgive(bucket: string): Promise<void>
}

/**
 * The clocks of all processes differ by less than this. A later time comes from before a clock was set back,
 * and is ignored.
 */
const clocksDiffer = `interval '5 minutes'`
const fullAgain = `case when a.full_again_at > $2 + $3 * $4 * interval '1 ms' + ${clocksDiffer} then $2
  else greatest(a.full_again_at, $2) end`

export function createAttempts(db: Pool, now: () => Date): Attempts {
  async function takeOne(bucket: string, { burst, intervalMs }: Allowance): Promise<Attempt> {
    const at = now()
    const { rows } = await db.query<{ taken: boolean; waitMs: number | null }>({
      name: 'take-attempt',
      text: `
        with taken as (
          insert into vault.attempts as a (bucket, full_again_at)
          values ($1, $2::timestamptz + $3 * interval '1 ms')
          on conflict (bucket) do update
          set full_again_at = ${fullAgain} + $3 * interval '1 ms'
          where ${fullAgain} + $3 * interval '1 ms' <= $2 + $3 * $4 * interval '1 ms'
          returning full_again_at
        )
        select exists (select from taken) as taken,
          extract(epoch from (select full_again_at from vault.attempts where bucket = $1) - $2)::float * 1000
            - $3::float * ($4::float - 1) as "waitMs"`,
      values: [bucket, at, intervalMs, burst],
    })
    const [found] = rows
    if (found?.taken) return { allowed: true }
    return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil((found?.waitMs ?? intervalMs) / 1000)) }
  }

  return {
    async take(buckets) {
      for (const { bucket, allowance } of buckets) {
        const attempt = await takeOne(bucket, allowance)
        if (!attempt.allowed) return attempt
      }
      return { allowed: true }
    },
    async giveBack(bucket, { intervalMs }) {
      await db.query(
        `update vault.attempts set full_again_at = full_again_at - $2 * interval '1 ms' where bucket = $1`,
        [bucket, intervalMs],
      )
    },
    async forgive(bucket) {
      await db.query('delete from vault.attempts where bucket = $1', [bucket])
    },
  }
}
