/** How long a confirmation can be approved or denied, where the tenant has not chosen another time; also the shortest one. */
export const shortestLifetimeSeconds = 600

export const longestLifetimeSeconds = 86_400
