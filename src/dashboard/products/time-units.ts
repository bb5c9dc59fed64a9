import { z } from 'zod'

const units = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const
export type Unit = keyof typeof units

export const unit = z.enum(['second', 'minute', 'hour', 'day'])

export const unitChoices = [
  ['second', 'seconds'],
  ['minute', 'minutes'],
  ['hour', 'hours'],
  ['day', 'days'],
] as const

export const secondsIn = (count: number, unit: Unit): number => count * units[unit]

/** In the largest unit that divides it. */
export function inUnits(seconds: number): { count: string; unit: Unit } {
  const found = (['day', 'hour', 'minute'] as const).find((name) => seconds % units[name] === 0) ?? 'second'
  return { count: String(seconds / units[found]), unit: found }
}
