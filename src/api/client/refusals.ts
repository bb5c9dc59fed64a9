import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import { Problem } from '../../http/problem.ts'

/** What apps are told when the rules do not allow an activation. The contract gives them statuses of their own. */
const refusals: Partial<Record<RefusalCode, [status: number, message: string]>> = {
  license_revoked: [422, 'license revoked'],
  license_expired: [422, 'license expired'],
  license_reminted: [422, 'this license was reminted; ask the vendor for its new key'],
  seat_limit_reached: [422, 'activation limit reached; deactivate another device first'],
  plan_limit: [402, "the vendor's plan allows no more active devices"],
}

export function clientProblemOf(code: RefusalCode): Problem | undefined {
  const answer = refusals[code]
  return answer && new Problem(answer[0], 'invalid_request', answer[1])
}

/** @throws Problem for a refusal that apps have a status for, and whatever else it was */
export function refuse(error: unknown): never {
  throw (error instanceof Refusal && clientProblemOf(error.code)) || error
}
