export declare function pages(): string[]
export declare function blocksOf(page: string, languages: readonly string[]): string[]
