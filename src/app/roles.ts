/** The kinds of work of a process. Roles can be split over machines, and each may run several times. */
export const roles = ['api', 'projector', 'reactions', 'dispatcher'] as const
export type Role = (typeof roles)[number]
