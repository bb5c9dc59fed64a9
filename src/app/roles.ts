/** What one process does. Work can be split over machines, and every role may run several times. */
export const roles = ['api', 'projector', 'reactions', 'dispatcher'] as const
export type Role = (typeof roles)[number]
