/** What a key may be given beside its kind, and what for. An operation that needs one names it in its descriptor. */
export const permissions = {
  'organization:incentivize:streams': 'run the reward streams of its organization',
  'organization:incentivize:streams:create': 'report points of streams',
} as const
