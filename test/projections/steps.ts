import fc from 'fast-check'
import { anyCustomerStep, type CustomerStep, everyCustomerStep } from './customer-steps.ts'
import { anyDeliveryStep, type DeliveryStep, everyDeliveryStep } from './delivery-steps.ts'
import { anyFileStep, everyFileStep, type FileStep } from './file-steps.ts'
import { anyInstallStep, everyInstallStep, type InstallStep } from './install-steps.ts'
import { anyMemberStep, everyMemberStep, type MemberStep } from './member-steps.ts'
import { anyMeterStep, everyMeterStep, type MeterStep } from './meter-steps.ts'
import { anyPersonSeatStep, everyPersonSeatStep, type PersonSeatStep } from './person-seat-steps.ts'
import { anyRelayStep, everyRelayStep, type RelayStep } from './relay-steps.ts'
import { anyResellerStep, everyResellerStep, type ResellerStep } from './reseller-steps.ts'
import { anySellingStep, everySellingStep, type SellingStep } from './selling-steps.ts'

export type Decision = 'approve' | 'deny' | 'withdraw' | 'none'

/** One step of a scenario. Licenses and devices are chosen by index, modulo the number of existing ones. */
export type Step =
  | CustomerStep
  | MemberStep
  | InstallStep
  | DeliveryStep
  | FileStep
  | MeterStep
  | PersonSeatStep
  | RelayStep
  | ResellerStep
  | { do: 'mint'; keyType: number; seats: number | null; person: boolean }
  | { do: 'activate' | 'deactivate'; license: number; device: number }
  | { do: 'free seat' | 'name device'; license: number; device: number }
  | { do: 'remint'; license: number; keepDevices: boolean }
  | {
      do:
        | 'revoke'
        | 'renew'
        | 'end period'
        | 'suspend license'
        | 'resume license'
        | 'notice sharing'
        | 'allow sharing'
      license: number
    }
  | { do: 'edit license'; license: number; seats: number; person: 'ada' | 'bob' | null }
  | { do: 'change product'; trial: number | null }
  | { do: 'add key type' | 'change key type'; keyType: number; entitlement: string }
  | {
      do:
        | 'suspend'
        | 'reinstate'
        | 'create token'
        | 'add member'
        | 'delete key type'
        | 'prepare signing key'
        | 'rotate signing key'
    }
  | { do: 'request revocation'; license: number; decision: Decision }
  | SellingStep
  | { do: 'wait'; days: number }

const license = fc.nat({ max: 3 })
const keyType = fc.nat({ max: 2 })

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('mint' as const),
      // The last one has floating seats.
      keyType: fc.nat({ max: 3 }),
      seats: fc.option(fc.integer({ min: 1, max: 3 })),
      person: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('activate' as const, 'activate' as const, 'deactivate' as const),
      license,
      device: fc.nat({ max: 3 }),
    }),
  },
  fc.record({
    do: fc.constantFrom('free seat' as const, 'name device' as const),
    license,
    device: fc.nat({ max: 3 }),
  }),
  fc.record({ do: fc.constantFrom('notice sharing' as const, 'allow sharing' as const), license }),
  fc.record({ do: fc.constant('remint' as const), license, keepDevices: fc.boolean() }),
  fc.record({
    do: fc.constantFrom(
      'revoke' as const,
      'renew' as const,
      'end period' as const,
      'suspend license' as const,
      'resume license' as const,
    ),
    license,
  }),
  fc.record({
    do: fc.constant('edit license' as const),
    license,
    seats: fc.integer({ min: 1, max: 3 }),
    person: fc.constantFrom('ada' as const, 'bob' as const, null),
  }),
  fc.record({ do: fc.constant('change product' as const), trial: fc.option(fc.nat({ max: 9 })) }),
  fc.record({
    do: fc.constantFrom('add key type' as const, 'change key type' as const),
    keyType,
    entitlement: fc.constantFrom('a', 'b', 'c:d'),
  }),
  fc.record({
    do: fc.constantFrom(
      'suspend' as const,
      'reinstate' as const,
      'create token' as const,
      'add member' as const,
      'delete key type' as const,
      'prepare signing key' as const,
      'rotate signing key' as const,
    ),
  }),
  { weight: 4, arbitrary: anyCustomerStep },
  { weight: 2, arbitrary: anyMemberStep },
  { weight: 2, arbitrary: anyInstallStep },
  { weight: 2, arbitrary: anyDeliveryStep },
  { weight: 2, arbitrary: anyFileStep },
  { weight: 3, arbitrary: anyMeterStep },
  { weight: 2, arbitrary: anyRelayStep },
  { weight: 2, arbitrary: anyPersonSeatStep },
  { weight: 2, arbitrary: anyResellerStep },
  { weight: 6, arbitrary: anySellingStep },
  fc.record({
    do: fc.constant('request revocation' as const),
    license,
    decision: fc.constantFrom<Decision[]>('approve', 'deny', 'withdraw', 'none'),
  }),
  fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 0, max: 20 }) }),
)

/** Every kind of step, so that the log has every type of event. */
export const everyStep: readonly Step[] = [
  { do: 'add member' },
  { do: 'create token' },
  { do: 'mint', keyType: 0, seats: 2, person: true },
  { do: 'mint', keyType: 1, seats: null, person: false },
  { do: 'activate', license: 0, device: 0 },
  { do: 'activate', license: 0, device: 1 },
  { do: 'activate', license: 1, device: 0 },
  { do: 'name device', license: 1, device: 0 },
  { do: 'notice sharing', license: 1 },
  { do: 'notice sharing', license: 0 },
  { do: 'allow sharing', license: 0 },
  { do: 'free seat', license: 1, device: 0 },
  { do: 'activate', license: 1, device: 0 },
  { do: 'deactivate', license: 0, device: 0 },
  { do: 'remint', license: 0, keepDevices: true },
  { do: 'remint', license: 0, keepDevices: false },
  { do: 'activate', license: 0, device: 0 },
  { do: 'edit license', license: 0, seats: 3, person: 'bob' },
  { do: 'suspend license', license: 0 },
  { do: 'resume license', license: 0 },
  ...everyFileStep,
  ...everyPersonSeatStep,
  ...everyMeterStep,
  ...everyRelayStep,
  ...everyResellerStep,
  { do: 'remint', license: 0, keepDevices: true },
  { do: 'suspend license', license: 1 },
  { do: 'change product', trial: 3 },
  ...everyCustomerStep,
  ...everyMemberStep,
  ...everyInstallStep,
  ...everyDeliveryStep,
  { do: 'add key type', keyType: 2, entitlement: 'a' },
  { do: 'change key type', keyType: 2, entitlement: 'b' },
  ...everySellingStep,
  { do: 'rotate signing key' },
  { do: 'prepare signing key' },
  { do: 'rotate signing key' },
  { do: 'suspend' },
  { do: 'reinstate' },
  { do: 'wait', days: 60 },
  { do: 'end period', license: 0 },
  { do: 'end period', license: 1 },
  { do: 'renew', license: 0 },
  { do: 'revoke', license: 1 },
  { do: 'delete key type' },
  { do: 'mint', keyType: 0, seats: 1, person: true },
  { do: 'request revocation', license: 2, decision: 'none' },
  { do: 'request revocation', license: 2, decision: 'deny' },
  { do: 'request revocation', license: 1, decision: 'withdraw' },
  { do: 'request revocation', license: 2, decision: 'approve' },
  // A license with floating seats, of which the first use is older than is kept.
  { do: 'mint', keyType: 3, seats: 2, person: false },
  { do: 'activate', license: 3, device: 0 },
  { do: 'activate', license: 3, device: 1 },
  { do: 'remint', license: 3, keepDevices: false },
  { do: 'wait', days: 430 },
  { do: 'activate', license: 3, device: 0 },
  { do: 'activate', license: 3, device: 1 },
  { do: 'deactivate', license: 3, device: 0 },
]
