"""Made by tools/make_cluster_data.py; do not edit."""

from __future__ import annotations

SOURCE = "tokenizers 0.23.3"
# base85 of zlib of JSON.
PACKED = (
    "c-n1Ov92vO4E&c@Z;`}yoX{dFC@2sGh?0(u1_|-+c*ail@Py92M`w2v#~zQz-oL+m`{kQo+tcIk8S&rO"
    "v+WUiy5LGS9;j_xji$<F@zKX0-A|v7&FzNU8cV~3$W+`H-Epap$?#`AzL#i!WITJuy2bS}Tl?+#@?H4Q"
    "=f+9#znVMFhC3q+#W#M2C-K|jaG4HY>F(t7I3Ih%$qg$*7z|v;r7hYuUW^k#oklBlE&Lzhtvts2*oA}6"
    "inBgos#^<Q)f4QsdZ15jv)XEBE3O+KO#1NY$tY`QDL%72;}dM`Rx7ktFmilwTj4z-?Rvh%>CqG-grob}"
    "J#-wbXS-*1ZG*>dtZJE9J4bi;EKY#?$W)9xDN)}+iYKy;)g)H3D-#^&3u0M|2#t$<;4TCatKu+&!SK0f"
    "=%n0Wc9I$wI*_ictUAVE2DTOrADBMDToX`vi?#H`3&dIWBD2Dy6wxe15<40!wv1Ub>J6B1>6sv~BWy10"
    "i6b=(hJoJ32&#V{R38$A4g3VgBCPl-jA$YJh=l5KoBjk0cR`YAvLgNK+wVTwI{Q$M4FN{ff~X_0@1uyT"
    "I0Ueq4s@vs^QcA(UdCdBfkBc&AyC$lq%chUJGRRlQG&u>p&MlV1}af~{`7=@)=5wT)VMGZ?MXmmq8MK6"
    "bcn{}&kS*{0=WW3lEji6J?W9Z0*SUVC6P87fJ%V0Hd5b2BPBmXN>q&Q$bx8%9k+jkD477ALE1y^VgUeN"
    "bf63QGBqnLMG%i|uuQ^OF;50C^F}cZ;CtBr3CCKX8ceY^CBnwBKjXH7nFF`OrzjU$!o880Sn^9OS)&=v"
    "{2mt$OyGA2aljBsSG!tsaB^lyNw%I^(h1tUYADzRcKfplRw(CA)l?>BS7Hq835~=<WjCO*o83wS`#t4q"
    "lm;J%G}SYo&5}#=DrM!RBpX}lK?<ptGH?fF^~hyeFHM}-!>z!~P7+9GYEV02Sk;>q`PUKc*XN`AQo`hS"
    "$x5Hb|An;+@Dlb^7Cc_L*x^lpyN)m-6;2iN59x=4*}Afmbb2yV-rFceyDiP=h5&&q;AfnU0t?;{#8x~V"
    "6vmw(#hR22f38CZE4#e~p$eG}X=I`{&xcs<)8#S~DW(W<R?h<SbXK!y5FFMqTM0SFv}gWvug%+5vk_B<"
    "d5qOf;Zd)y$D@EWg7G*aBubi7^_1bv<fzgo4ic@;BzAZrBMTcTIKzPEaFJcTTQA10QV)=PR8~;fKxN(5"
    "#K6KcuL>JyXu%RT3oCWV3MeLN&R71?<3~%ETv9^$Clh98BR5z_JrpXgX2wjD3bI40IdC|#HX+KwY`RmG"
    "s0-}$gH@r_;5!z<03VMe?lV*92}<T@)(`>dEAp&r&zL3&$UI8KI+p5sZw39QM7xqg2K2t3ilkhrL1bnB"
    "PLeQys<F>KRU%@Qom({iTBvpHo#)om?@Tmmh8$Lk7&)?HPSQiQ94j@<zB7+BOgb4Q(5s;Ku5f6+Wf#xG"
    "7qxBNz7FEB>)v4eX!?m9&FpHEA@}x_GMi`?DpVlm5zWyk(xMw#jEErBq%L|#0!TxBPeP;~JY)F=!lr|Y"
    "IjQm-7*NQalV{()p<5x;jZDwE@RU$QKU;e59|2lUnL%DW6uwYQs(mAojL53o=+mCM(scwdoRsvn(X`)}"
    "jOdYnaOldYsIMcH|KoRld(Lp1?>W<WTncidBuq(ZXxS5G*MvlP=X#s|n0koVJ644kf6|NQr}5-?nhnBO"
    "pZj*>!77BB2F&yPI$h3$m0#k|TF4RP?VJxKk`PXASs%5a^Arz{Jl&6GovH#<>5W{RBC>mfFKGL=9G<<j"
    "e{>MZE>p!yM~5Ci=miPM5;90Q0b|3~bIetKDWY|+ow3rAnAFpi2tpUNT1`$mRgl2vy!8#e8Z^%9n)scQ"
    "3L=~R9UJ`g!F;E)8ZL9P`0wl1mMpArm8s}wS--A~)V=k-PEmEF#t(+v{QvYT6HtK0^mzsr?$~Etzb^#T"
    ">167v5#kOPde}#vY7W~Yg?zMEm#$7_mz*Cj8<^YecoPX}r@s+-dN!A9z7)g@fJF`bm7{AI`|Y290sUqo"
    "E&"
)
