/** A source of choices that makes the same ones for the same seed. */
export type Random = {
  below: (limit: number) => number
  of: <T>(choices: readonly T[]) => T
}

/** Mulberry32: fast, and good enough to choose from. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    of(choices) {
      if (choices.length === 0) throw new Error('there is nothing to choose from')
      return choices[below(choices.length)] as (typeof choices)[number]
    },
  }
}
