// What page and worker say to each other.

export type Order = { kind: "items"; base: string; count: number } | { kind: "cancel" };

export type Answer = { kind: "values"; values: number[] } | { kind: "failed"; reason: string };
