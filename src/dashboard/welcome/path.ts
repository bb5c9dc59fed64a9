/** Where a one-time link leads; whoever makes one, in the dashboard or on the host, puts the base address before it. */
export const welcomePath = (secret: string): string => `/dashboard/welcome/${secret}`
