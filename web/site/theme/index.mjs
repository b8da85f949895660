import Theme from "vitepress/theme-without-fonts"; // the system's fonts: nothing to load
import "./style.css";

export default Theme;
