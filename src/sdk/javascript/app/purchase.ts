import type { Clock } from './ports.ts'
import { sleep } from './problem.ts'
import { isActive, type State } from './states.ts'

const pauseMs = 3000
const pauses = 10

/** What a purchase changes: whether there is a license, what it grants, and until when. */
const granted = (state: State): string =>
  'entitlements' in state
    ? JSON.stringify([isActive(state), state.entitlements, state.values, state.licenseExpiresAt])
    : ''

/**
 * Validates until what is granted has changed: the provider tells the vendor of a purchase a few seconds after it.
 * @returns whether it has changed within half a minute
 */
export async function refreshAfterPurchase(
  clock: Clock,
  state: () => State,
  validate: () => Promise<unknown>,
): Promise<boolean> {
  const before = granted(state())
  const isChanged = () => granted(state()) !== before
  await validate()
  for (let left = pauses; left > 0 && !isChanged(); left--) {
    await sleep(clock, pauseMs)
    await validate()
  }
  return isChanged()
}
