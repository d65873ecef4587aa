// planted: lint/style/useFilenamingConvention
export const named = 1;
