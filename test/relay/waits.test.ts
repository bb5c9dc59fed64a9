/** Guarantee: a relay counts each device once that found no seat, until it was told to come again or has a seat. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { activate, deactivate, heartbeat } from '../../src/relay/calls.ts'
import { activation, enrolled, openedRelay, refusal } from './relay.ts'

const Seated = z.looseObject({ instance_id: z.string() })

test('a device that finds no seat is told how many wait: each once, until it is to come again or has a seat', async () => {
  const { vendor, directory, time } = await enrolled({ seats: 1 })
  const served = openedRelay(directory, time.clocks)
  const license_key = vendor.licenseKey
  const { instance_id } = Seated.parse(activate(served, activation(vendor, 'a')))
  const waiting = (name: string) =>
    z
      .looseObject({ waiting: z.int() })
      .parse(refusal(() => activate(served, activation(vendor, name))).details).waiting
  expect(['b', 'c', 'b'].map(waiting)).toStrictEqual([1, 2, 2])
  deactivate(served, { license_key, instance_id })
  const next = Seated.parse(activate(served, activation(vendor, 'b')))
  expect(waiting('d')).toBe(2)
  // Half of a period: the answer says to come again no later.
  time.pass(5 * 60_000)
  heartbeat(served, { license_key, instance_id: next.instance_id })
  expect(waiting('e')).toBe(1)
})
