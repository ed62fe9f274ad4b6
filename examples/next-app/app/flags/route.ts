export { streamCurrentFlags as GET } from "@/flags";
